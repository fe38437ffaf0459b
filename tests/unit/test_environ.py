"""Settings out of the environment, and what production refuses to start without."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from xqmj_site import environ

ROOT = Path(__file__).resolve().parent.parent.parent

KEY = base64.b64encode(bytes(range(32))).decode()

PRODUCTION = {
    "SECRET_KEY": "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "ALLOWED_HOSTS": "xqmj.example",
    "DATABASE_URL": "postgresql://xqmj_app:secret@db.example/xqmj",
    "REDIS_URL": "redis://:secret@valkey.example/0",
    "XQMJ_SEAL_KEYS": f"k1:{KEY}",
}


def check(variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "xqmj_site.settings.prod",
            **variables,
        },
        capture_output=True,
        text=True,
        check=False,
    )


class TestProduction:
    def test_has_no_warning(self) -> None:
        done = check(PRODUCTION)

        assert done.returncode == 0, done.stderr
        assert "no issues (0 silenced)" in done.stdout

    @pytest.mark.parametrize("name", sorted(PRODUCTION))
    def test_does_not_start_without(self, name: str) -> None:
        done = check({key: value for key, value in PRODUCTION.items() if key != name})

        assert done.returncode != 0
        assert f"{name} is not set" in done.stderr


class TestSealKeys:
    def test_are_read_with_the_current_one_first(self) -> None:
        other = base64.b64encode(bytes(32)).decode()

        keys = environ.seal_keys(f"k2:{other}, k1:{KEY}")

        assert list(keys) == ["k2", "k1"]
        assert keys["k1"] == bytes(range(32))

    @pytest.mark.parametrize(
        "value",
        [
            "",
            KEY,
            f":{KEY}",
            "k1:",
            "k1:AAAA",
            f"k1:{KEY}x",
            f"k1:{KEY},k1:{KEY}",
            f"k1:{KEY},",
            "k1:not base64 at all, and long enough to be one",
        ],
    )
    def test_are_refused_as(self, value: str) -> None:
        with pytest.raises(ImproperlyConfigured, match="XQMJ_SEAL_KEYS"):
            environ.seal_keys(value)


class TestDatabase:
    def test_takes_a_server_by_name(self) -> None:
        found = environ.database(
            "postgresql://app:p%40ss@db.example:6432/xqmj?sslmode=require", options="-c a=1"
        )

        assert found["HOST"] == "db.example"
        assert found["PORT"] == "6432"
        assert found["NAME"] == "xqmj"
        assert found["USER"] == "app"
        assert found["PASSWORD"] == "p@ss"
        assert found["OPTIONS"] == {"sslmode": "require", "options": "-c a=1"}

    def test_takes_a_server_by_its_socket_s_folder(self) -> None:
        found = environ.database("postgresql://app@/xqmj?host=%2Frun%2Fpg", options="")

        assert found["HOST"] == "/run/pg"

    def test_opens_no_transaction_of_its_own(self) -> None:
        found = environ.database("postgresql:///xqmj", options="")

        assert found["ATOMIC_REQUESTS"] is False
        assert found["CONN_MAX_AGE"] == 0


class TestNumbersAndFlags:
    def test_refuse_what_they_are_not(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XQMJ_X", "many")

        with pytest.raises(ImproperlyConfigured, match="XQMJ_X must be a whole number"):
            environ.number("XQMJ_X", 1)
        with pytest.raises(ImproperlyConfigured, match="XQMJ_X must be yes or no"):
            environ.flag("XQMJ_X", default=False)

    def test_take_an_empty_variable_for_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XQMJ_X", " ")

        assert environ.number("XQMJ_X", 7) == 7
        assert environ.flag("XQMJ_X", default=True) is True
        assert environ.words("XQMJ_X", "a, b,") == ["a", "b"]


class TestLongpollWaiters:
    @pytest.mark.parametrize(
        ("threads", "stated", "waiters"),
        [
            (32, None, 16),
            (9, None, 4),
            (2, None, 1),
            (1, None, 0),
            (8, "3", 3),
            (8, "7", 7),
            (8, "8", 7),
            (8, "1000", 7),
            (1, "5", 0),
            (8, "0", 0),
        ],
    )
    def test_leave_a_thread_to_commands(
        self, monkeypatch: pytest.MonkeyPatch, threads: int, stated: str | None, waiters: int
    ) -> None:
        monkeypatch.delenv("XQMJ_LONGPOLL_WAITERS", raising=False)
        if stated is not None:
            monkeypatch.setenv("XQMJ_LONGPOLL_WAITERS", stated)

        assert environ.longpoll_waiters(threads) == waiters

    def test_follow_the_threads_of_web(self) -> None:
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "from xqmj_site.settings import prod; print(prod.XQMJ_LONGPOLL_WAITERS)",
            ],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], **PRODUCTION, "WEB_THREADS": "6"},
            capture_output=True,
            text=True,
            check=True,
        )

        assert done.stdout == "3\n"
