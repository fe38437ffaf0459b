"""What the figures were measured on: the machine, and how long its disk takes to be sure."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import psycopg

FSYNC_S = 2.0
BLOCK = bytes(8192)
SETTINGS = (
    "server_version",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_sync_method",
    "shared_buffers",
)


def fsync_ms(folder: Path, *, seconds: float = FSYNC_S) -> float:
    """Median time of writing 8 kB over the same place and waiting until they are on disk."""
    took: list[float] = []
    with tempfile.TemporaryFile(dir=folder) as file:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            begun = time.perf_counter()
            os.pwrite(file.fileno(), BLOCK, 0)
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - begun)
    return median(took) * 1000


def facts(dsn: str) -> dict[str, Any]:
    """Processor, memory and versions, with the settings of the server at `dsn` that matter."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT name, current_setting(name) FROM unnest(%s::text[]) AS name", (list(SETTINGS),)
        ).fetchall()
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "postgresql": dict(rows),
    }


def load() -> float:
    """How many processes wanted to run in the last minute, on average."""
    return os.getloadavg()[0]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if "model name" in line), "unknown")
