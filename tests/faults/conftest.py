"""What the tests of faults share: servers that they may kill, and processes over them."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.service import Service
from tests.support import servers as support
from tests.support.servers import OwnServers

Start = Callable[..., Service]


@pytest.fixture(scope="module")
def lone_servers() -> Iterator[OwnServers]:
    """A migrated PostgreSQL, which remembers when each row was committed, and a Valkey."""
    folder = Path(tempfile.mkdtemp(prefix="xqmj-fault-"))
    folder.chmod(0o711)
    settings = {"track_commit_timestamp": "on"}
    try:
        with support.running(folder, settings=settings) as (postgres, valkey):
            support.migrate(postgres, support.OWN_DATABASE)
            yield OwnServers(postgres, valkey)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def service(lone_servers: OwnServers, tmp_path: Path) -> Iterator[Start]:
    """Makes a service over the lone servers, which is stopped at the end."""
    with contextlib.ExitStack() as stack:

        def make(**options: Any) -> Service:
            made = Service(lone_servers, tmp_path, **options)
            stack.callback(made.stop)
            return made

        yield make
