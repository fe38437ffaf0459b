"""Our Celery application with one task more, whose run a test can see from outside."""

from __future__ import annotations

from pathlib import Path

from xqmj_site.celery import app


@app.task(name="tests.touch")
def touch(path: str) -> None:
    """Make a file: a task ran."""
    Path(path).touch()
