"""The processes xqmj consists of, and the command each one is.

One image serves every role: `python -m xqmj_site.roles web`. The development
runner starts the same commands, so that what runs there is what runs in
production.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent

HEADER_TIMEOUT_MS = 10_000
"""A client that has not sent its headers by then is let go."""

STOP_TIMEOUT_S = 10
"""How long open requests and streams may take once a stop was asked for."""


def _granian(environment: Mapping[str, str], *, port: str, interface: str) -> list[str]:
    return [
        str(Path(sys.executable).with_name("granian")),
        *("--interface", interface),
        *("--host", environment.get("HOST", "127.0.0.1")),
        *("--port", port),
        *("--http", "1"),
        *("--http1-header-read-timeout", str(HEADER_TIMEOUT_MS)),
        *("--workers-kill-timeout", str(STOP_TIMEOUT_S)),
        "--respawn-failed-workers",
        "--no-access-log",
        *("--log-config", str(HERE / "granian_logging.json")),
    ]


def web(environment: Mapping[str, str]) -> list[str]:
    """REST and pages: WSGI under threads, several processes."""
    return [
        *_granian(environment, port=environment.get("PORT", "8000"), interface="wsgi"),
        *("--workers", environment.get("WEB_WORKERS", "2")),
        *("--blocking-threads", environment.get("WEB_THREADS", "32")),
        "--no-ws",
        "xqmj_site.wsgi:application",
    ]


def live(environment: Mapping[str, str]) -> list[str]:
    """Streams that stay open: ASGI, one process."""
    return [
        *_granian(environment, port=environment.get("LIVE_PORT", "8001"), interface="asginl"),
        *("--workers", environment.get("LIVE_WORKERS", "1")),
        "xqmj_site.asgi:application",
    ]


def _celery(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "celery", "--quiet", "--app", "xqmj_site", *arguments]


def worker(environment: Mapping[str, str]) -> list[str]:
    """Celery's worker, which also sweeps by its own clock."""
    return _celery(
        "worker",
        *("--concurrency", environment.get("WORKER_CONCURRENCY", "2")),
        # Nobody here watches other workers; without these a broker's death is one reconnect.
        "--without-gossip",
        "--without-mingle",
        "--without-heartbeat",
    )


def beat(environment: Mapping[str, str]) -> list[str]:
    """Celery's beat: exactly one, and nothing is lost when it is none."""
    folder = environment.get("XQMJ_RUN_DIR") or tempfile.gettempdir()
    return _celery("beat", *("--schedule", str(Path(folder) / "beat-schedule")))


def migrate(_environment: Mapping[str, str]) -> list[str]:
    """Bring the schema up, as the owner (`DATABASE_OWNER_URL`), and end."""
    return [sys.executable, "manage.py", "migrate", "--no-input"]


ROLES: dict[str, Callable[[Mapping[str, str]], list[str]]] = {
    "web": web,
    "live": live,
    "worker": worker,
    "beat": beat,
    "migrate": migrate,
}


def variables(role: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what the processes of a role need in their environment beside what is there.

    Where metrics are on (`XQMJ_METRICS_PORT`), that is a folder too, made empty here, through
    which the processes add up what they count: it must be named before the first of them starts.
    """
    found = {"XQMJ_ROLE": role}
    port = environment.get("XQMJ_METRICS_PORT") or "0"
    if port != "0":
        above = environment.get("XQMJ_RUN_DIR")
        if above:
            folder = Path(above) / "tmp" / f"metrics-{role}-{port}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700, parents=True)
        else:
            folder = Path(tempfile.mkdtemp(prefix=f"xqmj-metrics-{role}-"))
        found["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    return found


def main(arguments: list[str]) -> None:
    """Become the process of one role."""
    if len(arguments) != 1 or arguments[0] not in ROLES:
        sys.exit(f"usage: python -m xqmj_site.roles {'|'.join(ROLES)}")
    os.environ.update(variables(arguments[0], os.environ))
    command = ROLES[arguments[0]](os.environ)
    os.execvp(command[0], command)  # noqa: S606 - one of the five commands above


if __name__ == "__main__":
    main(sys.argv[1:])
