"""Shows Prometheus what all processes of a role have counted, at a port that no proxy leads to.

The processes of one role write their numbers to files of a folder that they share
(`PROMETHEUS_MULTIPROC_DIR`, which `xqmj_site.roles` makes); one of them adds the files up and
answers. Which one does not matter: each tries for the port, and goes on trying, so that another
takes over when the first has died.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import structlog
from celery import bootsteps
from django.conf import settings
from prometheus_client import CollectorRegistry, Metric, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

log = structlog.get_logger(__name__)

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
AGAIN_S = 2.0
"""A process that did not get the port tries again after so long."""


class Counted(Collector):
    """The numbers in a folder, added up over the processes that wrote them.

    What a dead process counted stays counted; what it only held, such as the
    polls that waited in it, is gone with it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # The package has no types here.
        self._files: Any = cast("Any", MultiProcessCollector)(None, path=str(folder))

    def collect(self) -> Iterable[Metric]:
        """Read them."""
        for held in self._folder.glob("gauge_live*.db"):
            pid = held.stem.rpartition("_")[2]
            if not _lives(int(pid)):
                held.unlink(missing_ok=True)
        found: Iterable[Metric] = self._files.collect()
        return found


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def serve() -> None:
    """Answer from a thread, now or when whoever has the port is gone; nothing where it is off."""
    folder = os.environ.get(FOLDER)
    if settings.XQMJ_METRICS_PORT and folder:
        threading.Thread(
            target=_serve, args=(Path(folder),), name="xqmj-exporter", daemon=True
        ).start()


def _serve(folder: Path) -> None:
    registry = CollectorRegistry()
    registry.register(Counted(folder))
    host, port = settings.XQMJ_METRICS_HOST, settings.XQMJ_METRICS_PORT
    while True:
        try:
            start_http_server(port, addr=host, registry=registry)
        except OSError as error:
            log.debug("metrics_port_taken", host=host, port=port, error=str(error))
            time.sleep(AGAIN_S)
        else:
            return


class Exporter(bootsteps.StartStopStep):
    """Has a worker answer, once its processes are forked and before it waits for the broker."""

    requires = ("celery.worker.components:Pool",)

    def start(self, parent: Any) -> None:  # noqa: ARG002 - Celery's signature
        """Answer from now on, until the process ends."""
        serve()
