"""A wrong clock for one process: Python's `time` and `datetime` are off by what a file says.

Python imports this before anything else where this folder is on PYTHONPATH. The
monotonic clock and the machine's stay as they are, as after a step of NTP.
"""

from __future__ import annotations

import ctypes
import datetime as dt
import gc
import os
import time
from pathlib import Path
from typing import Any

SKEW = "XQMJ_TEST_SKEW"
"""The file; it holds so many seconds in `WIDTH` characters."""
WIDTH = 8


def step(path: Path, seconds: int) -> None:
    """Put the clock of whoever reads this file off by so many seconds from now on."""
    path.touch()
    with path.open("r+b", buffering=0) as file:
        file.write(f"{seconds:+0{WIDTH}d}".encode())


def _install(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    true_time, true_time_ns = time.time, time.time_ns
    true_gmtime, true_localtime = time.gmtime, time.localtime
    # A type's own table: what was imported from `datetime` long ago is off as well.
    table: Any = gc.get_referents(dt.datetime.__dict__)[0]
    true_now = table["now"]

    def off_s() -> int:
        return int(os.pread(descriptor, WIDTH, 0))

    def now(cls: Any, tz: dt.tzinfo | None = None) -> Any:
        return true_now.__get__(None, cls)(tz) + dt.timedelta(seconds=off_s())

    def utcnow(cls: Any) -> Any:
        return now(cls, dt.UTC).replace(tzinfo=None)

    time.time = lambda: true_time() + off_s()
    time.time_ns = lambda: true_time_ns() + off_s() * 1_000_000_000
    time.gmtime = lambda at=None: true_gmtime(time.time() if at is None else at)
    time.localtime = lambda at=None: true_localtime(time.time() if at is None else at)
    table["now"], table["utcnow"] = classmethod(now), classmethod(utcnow)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(dt.datetime))


if os.environ.get(SKEW):
    _install(os.environ[SKEW])
