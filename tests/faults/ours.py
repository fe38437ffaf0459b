"""Our applications with what tests of faults need beside them; each is asked for by a variable.

`application` is the web role's, `app` Celery's; run as a program it is `manage.py`.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from pathlib import Path
from typing import Any

from matches.domain import clock

SHORT = "XQMJ_TEST_SHORT"
"""Set: clocks of `1+1` begin with `BASE_MS`, and seats must be ready within `READY_MS`."""
BASE_MS, READY_MS = 3_000, 2_000
CUE = "XQMJ_TEST_CUE"
"""A file: a process that has committed the end of a match and finds it removes it, and dies."""
STALL = "XQMJ_TEST_STALL"
"""A file: a process that rates, and so holds the lock, and finds it adds its id to the name, and
stops as it stands."""
STACKS = "XQMJ_TEST_STACKS"
"""A folder: at SIGUSR2 a process writes what its threads do into a file named by its id."""


def _prepare() -> None:
    if os.environ.get(SHORT):
        clock.CONTROLS["1+1"] = clock.Control("1+1", BASE_MS, 0)
        # Nobody has imported it from there yet.
        clock.READY_MS = READY_MS
    if os.environ.get(STACKS):
        # The file stays open as long as the process: the handler writes to its descriptor.
        stacks = (Path(os.environ[STACKS]) / str(os.getpid())).open("w")
        faulthandler.register(signal.SIGUSR2, file=stacks, all_threads=True)


def _die_on_cue() -> None:
    """Let the process die between a match's last commit and telling anybody."""
    from matches.services import notices

    cue, committed = os.environ.get(CUE), notices.committed

    def perhaps(entry: Any, due: Any) -> None:
        if cue and entry.match.ended is not None and Path(cue).exists():
            Path(cue).unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        committed(entry, due)

    notices.committed = perhaps


def _stall_on_cue(**_signal: Any) -> None:
    """Let a process of the worker's pool stop in the middle of the transaction that rates."""
    from ratings import services

    rating: Any = services
    stall, apply = os.environ.get(STALL), rating._apply

    def perhaps(*args: Any) -> Any:
        if stall and Path(stall).exists():
            Path(stall).rename(f"{stall}.{os.getpid()}")
            os.kill(os.getpid(), signal.SIGSTOP)
        return apply(*args)

    rating._apply = perhaps


def __getattr__(name: str) -> Any:
    if name == "application":
        from xqmj_site.wsgi import application

        _die_on_cue()
        return application
    if name == "app":
        from celery.signals import worker_process_init

        from xqmj_site.celery import app

        _die_on_cue()
        # Before a pool has its processes, Django has no models.
        worker_process_init.connect(_stall_on_cue, weak=False)
        return app
    raise AttributeError(name)


_prepare()
if __name__ == "__main__":
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
