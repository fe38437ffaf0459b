"""Where the development servers leave their addresses, and who picks them up.

`manage.py up` writes one file; every other `manage.py` command of the same
clone adopts it, so that a shell or a demo works beside a running `make up`
without any variable set by hand. A variable that is set always wins.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
"""The clone."""

DATA = ROOT / ".data"
"""Where the embedded servers keep data and generated keys (mode 0700)."""

FILE_NAME = "environment.json"


def data_dir() -> Path:
    """Return the data folder: `XQMJ_DATA_DIR`, or `.data` in the clone."""
    return Path(os.environ.get("XQMJ_DATA_DIR") or DATA).absolute()


def write(values: dict[str, str], *, folder: Path) -> None:
    """Leave the addresses for other commands, readable by the owner only."""
    target = folder / FILE_NAME
    fresh = target.with_suffix(".new")
    fresh.touch(mode=0o600)
    fresh.write_text(json.dumps(values, indent=1, sort_keys=True))
    fresh.replace(target)


def read(folder: Path) -> dict[str, str]:
    """Return what `write` left, or nothing."""
    try:
        values = json.loads((folder / FILE_NAME).read_text())
    except (FileNotFoundError, PermissionError):
        return {}
    return {str(name): str(value) for name, value in values.items()}


def adopt() -> None:
    """Set what the development servers left and the environment lacks.

    With a `DATABASE_URL` of one's own nothing is adopted: a half of each world
    would be worse than either.
    """
    if "DATABASE_URL" in os.environ:
        return
    for name, value in read(data_dir()).items():
        os.environ.setdefault(name, value)
