"""The embedded servers: private, durable, and started under whoever is there."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.support.servers import ROOT
from tests.support.waiting import until
from xqmj_site.devstack import environment, identity, keyring, postgres, processes
from xqmj_site.devstack.postgres import PostgresServer
from xqmj_site.devstack.valkey import ValkeyServer

KEYS = keyring.generate()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(scope="module")
def private_folder() -> Iterator[Path]:
    """A folder that nobody but us may enter, as a clone under /root is."""
    with tempfile.TemporaryDirectory(prefix="xqmj-private-") as name:
        yield Path(name)


@pytest.fixture(scope="module")
def server(private_folder: Path) -> Iterator[PostgresServer]:
    made = PostgresServer(private_folder / "postgres", keys=KEYS)
    made.initialise(sync=False)
    made.start()
    made.create_roles()
    made.create_database("xqmj")
    yield made
    made.stop()
    made.remove()


def outlived(server: PostgresServer) -> int:
    """Kill the server; gives the process of a session of it that does not notice."""
    with server.connect() as session:
        left = session.info.backend_pid
        os.kill(left, signal.SIGSTOP)
        server.kill()
    return left


class TestPostgres:
    def test_starts_where_only_we_may_go(
        self, server: PostgresServer, private_folder: Path
    ) -> None:
        pid = server.pid()
        assert pid is not None
        owner = Path(f"/proc/{pid}").stat().st_uid if Path("/proc").exists() else os.geteuid()

        assert mode(private_folder) == 0o700
        if os.geteuid() == 0:
            assert owner != 0
            assert (private_folder / "postgres").is_symlink()
        else:
            assert owner == os.geteuid()
            assert server.folder == private_folder / "postgres"

    def test_shows_its_files_to_nobody_else(self, server: PostgresServer) -> None:
        assert mode(server.folder) == 0o700
        assert mode(server.socket_dir) == 0o700
        assert mode(server.cluster) == 0o700

    def test_opens_no_port(self, server: PostgresServer) -> None:
        with server.connect() as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)

    @pytest.mark.parametrize("name", ["fsync", "full_page_writes", "synchronous_commit"])
    def test_keeps_on(self, server: PostgresServer, name: str) -> None:
        with server.connect() as connection:
            assert connection.execute(f"SHOW {name}").fetchone() == ("on",)

    def test_lets_nobody_in_without_a_password(self, server: PostgresServer) -> None:
        wrong = server.url("app", "xqmj").replace(KEYS.app_password, "guess")

        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(wrong)

    @pytest.mark.parametrize("role", ["owner", "app", "auditor"])
    def test_gives_roles_no_power_over_the_server(self, server: PostgresServer, role: str) -> None:
        with psycopg.connect(server.url(role, "xqmj")) as connection:
            found = connection.execute(
                "SELECT current_user, rolsuper, rolcreatedb, rolcreaterole, rolbypassrls"
                " FROM pg_roles WHERE rolname = current_user"
            ).fetchone()

        assert found == (f"xqmj_{role}", False, False, False, False)

    @pytest.mark.parametrize("role", ["app", "auditor"])
    def test_lets_only_the_owner_make_tables(self, server: PostgresServer, role: str) -> None:
        with (
            psycopg.connect(server.url(role, "xqmj")) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute("CREATE TABLE public.mine ()")

    def test_keeps_what_it_acknowledged_when_it_is_killed(self, server: PostgresServer) -> None:
        with psycopg.connect(server.url("owner", "xqmj")) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 1 AS n")
        server.kill()

        server.start()

        with psycopg.connect(server.url("owner", "xqmj")) as connection:
            assert connection.execute("SELECT n FROM kept").fetchone() == (1,)

    def test_takes_no_stranger_for_itself(self, server: PostgresServer) -> None:
        server.stop()
        later = PostgresServer(server.folder, keys=KEYS)
        # A machine that was switched off: the number of the old server is somebody else's now.
        with subprocess.Popen(
            ["sleep", "60"], cwd="/", **identity.popen_arguments(server.identity)
        ) as stranger:
            (server.cluster / "postmaster.pid").write_text(f"{stranger.pid}\n")
            assert later.pid() is None

            later.start()
            server.child = later.child

            assert later.pid() not in {None, stranger.pid}
            assert stranger.poll() is None
            stranger.kill()

    def test_logs_no_value_of_a_statement_that_fails(self, server: PostgresServer) -> None:
        with server.connect() as session:
            session.execute("CREATE TABLE hidden (word text UNIQUE CHECK (word <> 'bad'))")
            session.execute("INSERT INTO hidden VALUES ('argon2-of-ana')")
            session.commit()
            for word in ("argon2-of-ana", "bad"):
                with pytest.raises(psycopg.IntegrityError):
                    session.execute(f"INSERT INTO hidden SELECT '{word}' /* argon2-of-ben */")
                session.rollback()
            session.execute("DROP TABLE hidden")
            session.commit()

        log = server.log.read_text()
        assert log.count("hidden_word") == 2
        assert "argon2" not in log

    def test_waits_for_sessions_that_outlive_it(self, server: PostgresServer) -> None:
        left = outlived(server)
        threading.Timer(1.5, lambda: os.kill(left, signal.SIGCONT)).start()
        begun_s = time.monotonic()

        server.start()

        assert time.monotonic() - begun_s > 1.4
        assert until(lambda: not processes.alive(left), within_s=10)
        server.connect().close()

    def test_does_not_start_beside_a_session_that_does_not_end(
        self, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(postgres, "SURVIVORS_S", 1.0)
        left = outlived(server)

        try:
            with pytest.raises(processes.ServerFailed, match="still in use"):
                server.start()
        finally:
            os.kill(left, signal.SIGKILL)
        assert processes.read_pid(server.cluster / "postmaster.pid") is not None
        server.start()

    def test_says_at_once_why_it_cannot_start(
        self, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server.stop()
        monkeypatch.setitem(server.settings, "max_connections", "none")
        begun_s = time.monotonic()

        with pytest.raises(processes.ServerFailed, match='invalid value for parameter "max_conn'):
            server.start()

        assert time.monotonic() - begun_s < postgres.SURVIVORS_S / 2
        monkeypatch.undo()
        server.start()

    def test_is_found_and_stopped_by_a_later_run(self, server: PostgresServer) -> None:
        running = server.pid()

        later = PostgresServer(server.folder, keys=KEYS)
        assert later.pid() == running
        later.start()
        server.child = later.child

        assert later.pid() != running


class TestLongPath:
    def test_moves_the_socket_where_it_fits(self, private_folder: Path) -> None:
        deep = private_folder / ("d" * 60) / ("e" * 60)

        made = PostgresServer(deep, keys=KEYS)

        try:
            made.initialise(sync=False)
            made.start()
            assert made.socket_dir.is_dir()
            assert len(str(made.socket_dir)) < 80
            made.connect().close()
        finally:
            made.stop()
            made.remove()


class TestContainerStart:
    def test_makes_the_same_roles(self, server: PostgresServer) -> None:
        server.create_database("container")
        server.create_database("container")
        passwords = {f"XQMJ_{name}_PASSWORD": "new-1" for name in ("OWNER", "APP", "AUDITOR")}

        subprocess.run(
            ["/bin/sh", str(ROOT / "xqmj_site/devstack/init-roles.sh")],
            env={
                "PATH": f"{server.programs}:{os.environ['PATH']}",
                "PGHOST": str(server.socket_dir),
                "PGPASSWORD": KEYS.superuser_password,
                "POSTGRES_DB": "container",
                "XQMJ_SQL_DIR": str(ROOT / "xqmj_site/devstack"),
                **passwords,
            },
            check=True,
            capture_output=True,
        )

        changed = server.url("app", "container").replace(KEYS.app_password, "new-1")
        with psycopg.connect(changed) as connection:
            found = connection.execute("SELECT current_user").fetchone()
        assert found == ("xqmj_app",)
        server.create_roles()

    def test_refuses_a_password_that_would_not_travel(self) -> None:
        done = subprocess.run(
            ["/bin/sh", str(ROOT / "xqmj_site/devstack/init-roles.sh")],
            env={"PATH": os.environ["PATH"], "XQMJ_OWNER_PASSWORD": "two words"},
            check=False,
            capture_output=True,
            text=True,
        )

        assert done.returncode == 1
        assert "letters, digits" in done.stderr


class TestReach:
    def test_copies_programs_that_the_server_s_user_cannot_run(self, private_folder: Path) -> None:
        package = private_folder / "package" / "pginstall"
        (package / "bin").mkdir(parents=True)
        (package / "bin" / "postgres").write_text("#!/bin/sh\nexit 0\n")
        (package / "bin" / "postgres").chmod(0o700)
        into = Path(tempfile.mkdtemp(prefix="xqmj-reach-"))
        into.chmod(0o755)
        who = identity.server_identity()

        try:
            found = identity.reachable_programs(
                package / "bin", who, names=("postgres",), into=into / "programs"
            )

            assert identity.can_run(found / "postgres", who)
            assert (found == package / "bin") == (who is None)
        finally:
            shutil.rmtree(into)


class TestValkey:
    def test_asks_for_its_password_and_shows_it_to_nobody(self, tmp_path: Path) -> None:
        server = ValkeyServer(tmp_path / "valkey", password="open-sesame")
        server.start()
        try:
            assert mode(tmp_path / "valkey" / "valkey.conf") == 0o600
            pid = server.pid()
            assert pid is not None
            if Path("/proc").exists():
                assert b"open-sesame" not in Path(f"/proc/{pid}/cmdline").read_bytes()
        finally:
            server.stop()
        assert server.pid() is None


class TestKeyring:
    def test_is_made_once_and_readable_by_its_owner_alone(self, tmp_path: Path) -> None:
        first = keyring.load_or_create(tmp_path)

        assert keyring.load_or_create(tmp_path) == first
        assert mode(tmp_path / "keys.json") == 0o600
        assert len(set(first)) == len(first)

    def test_is_not_made_anew_over_a_damaged_one(self, tmp_path: Path) -> None:
        (tmp_path / "keys.json").write_text("{")

        with pytest.raises(ValueError, match=r"keys\.json"):
            keyring.load_or_create(tmp_path)


class TestEnvironment:
    def test_is_adopted_where_nothing_is_set(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XQMJ_DATA_DIR", str(tmp_path))
        monkeypatch.delenv("DATABASE_URL", raising=False)
        monkeypatch.setenv("REDIS_URL", "redis://mine")
        environment.write(
            {"DATABASE_URL": "postgresql://theirs", "REDIS_URL": "redis://theirs"}, folder=tmp_path
        )

        environment.adopt()

        assert os.environ["DATABASE_URL"] == "postgresql://theirs"
        assert os.environ["REDIS_URL"] == "redis://mine"
        assert mode(tmp_path / "environment.json") == 0o600
        monkeypatch.delenv("DATABASE_URL")

    def test_is_left_alone_beside_a_database_of_one_s_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XQMJ_DATA_DIR", str(tmp_path))
        monkeypatch.setenv("DATABASE_URL", "postgresql://mine")
        monkeypatch.delenv("SECRET_KEY", raising=False)
        environment.write({"SECRET_KEY": "theirs"}, folder=tmp_path)

        environment.adopt()

        assert "SECRET_KEY" not in os.environ
