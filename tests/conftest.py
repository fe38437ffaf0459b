"""What every test may ask for: servers of its own, and a database that keeps everything.

The log is append-only, so nothing is rolled back or truncated between tests:
tests keep apart by fresh ids and random names. Every xdist worker has its own
database, cloned from a template that was migrated once, and connects as the
app's role, as in production.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from pytest_django.plugin import DjangoDbBlocker
from xdist.remote import Producer

from tests.support import servers as support
from tests.support.spread import Spread

REQUIRE_ALL = "XQMJ_REQUIRE_ALL"
"""Set to 1, slow tests run too, and a test that skips itself has failed: the gate sets it."""


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the run's folder before xdist starts its workers, which inherit it."""
    if not _is_worker(config):
        folder = Path(tempfile.mkdtemp(prefix="xqmj-test-"))
        # Started by root, PostgreSQL runs as another user, who must get to its folder below.
        folder.chmod(0o711)
        os.environ[support.FOLDER] = str(folder)
        os.environ[support.RUN_PID] = str(os.getpid())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Spread | None:
    """Take long tests' blocks apart where files are kept whole."""
    return Spread(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the run's servers, if a test asked for any."""
    if not _is_worker(config):
        folder = os.environ.pop(support.FOLDER, None)
        if folder:
            support.stop_host(Path(folder))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave slow tests out unless they are required or asked for by `-m`."""
    if os.environ.get(REQUIRE_ALL) == "1" or "slow" in config.option.markexpr:
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where everything is required."""
    report = yield
    if report.skipped and os.environ.get(REQUIRE_ALL) == "1" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def servers() -> Iterator[support.Servers]:
    """Start the throw-away servers at first use and point Django's settings at them."""
    from matches.eventstore import pool
    from matches.services import heartbeat

    found = support.for_this_worker()
    support.point_django_at(found)
    yield found
    # The servers go before this process does; nothing may be left that looks for them.
    heartbeat.stop()
    pool.close()


@pytest.fixture(scope="session")
def django_db_setup() -> None:
    """Leave out pytest-django's creation of a test database: `servers` has our own."""


@pytest.fixture
def _django_db_helper(
    servers: support.Servers,  # noqa: ARG001 - asked for what it does
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[None]:
    """Open the database to one test: no transaction around it, nothing undone after it."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture(scope="module")
def own_servers() -> Iterator[support.OwnServers]:
    """Run a migrated PostgreSQL and a Valkey that a test may kill, for one module."""
    folder = Path(tempfile.mkdtemp(prefix="xqmj-own-"))
    folder.chmod(0o711)
    try:
        with support.running(folder) as (postgres, valkey):
            support.migrate(postgres, support.OWN_DATABASE)
            yield support.OwnServers(postgres, valkey)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
