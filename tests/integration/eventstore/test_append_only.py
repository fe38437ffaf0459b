"""Nobody changes the log: the app has no right to, and triggers refuse everybody else."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import sql

from tests.integration.eventstore.streams import begun, drawn, key
from tests.support.servers import Servers

PROTECTED = ("match_event", "match_seat", "match_creation", "service_gap")
TABLES = (*PROTECTED, "match_head", "heartbeat", "commit_order", "rated_seat")
CHANGES = ("UPDATE es.{} SET {} = {}", "DELETE FROM es.{}", "TRUNCATE es.{} CASCADE")
COLUMN = {
    "match_event": "kind",
    "match_seat": "player",
    "match_creation": "fingerprint",
    "service_gap": "from_ms",
}


def change(statement: str, table: str) -> sql.Composed:
    """The statement on a table; an update sets a column to what it is."""
    names = [sql.Identifier(table), *[sql.Identifier(COLUMN[table])] * 2]
    return sql.SQL(statement).format(*names[: statement.count("{}")])


@pytest.fixture
def _rows(owner: psycopg.Connection) -> None:
    """Something in every table, so that row triggers have a row to fire on."""
    begun(named=key()).append(drawn(actor=0), named=key())
    owner.execute(
        "INSERT INTO es.service_gap (from_ms, until_ms) VALUES (1, 2) ON CONFLICT DO NOTHING"
    )


class TestTriggers:
    @pytest.mark.usefixtures("_rows")
    @pytest.mark.parametrize("statement", CHANGES)
    @pytest.mark.parametrize("table", PROTECTED)
    def test_refuse_the_owner(self, owner: psycopg.Connection, table: str, statement: str) -> None:
        with pytest.raises(psycopg.errors.RestrictViolation, match="append-only"):
            owner.execute(change(statement, table))

    @pytest.mark.usefixtures("_rows")
    @pytest.mark.parametrize(
        "statement", ["DELETE FROM es.match_head", "TRUNCATE es.match_head CASCADE"]
    )
    def test_refuse_the_owner_to_drop_a_head(
        self, owner: psycopg.Connection, statement: str
    ) -> None:
        with pytest.raises(psycopg.errors.RestrictViolation):
            owner.execute(statement.encode())

    @pytest.mark.usefixtures("_rows")
    @pytest.mark.parametrize("statement", CHANGES)
    @pytest.mark.parametrize("table", PROTECTED)
    def test_refuse_a_superuser_that_plays_replica(
        self, superuser: psycopg.Connection, table: str, statement: str
    ) -> None:
        superuser.execute("SET session_replication_role = replica")

        with pytest.raises(psycopg.errors.RestrictViolation):
            superuser.execute(change(statement, table))

    def test_stand_on_every_table_of_the_log(self, owner: psycopg.Connection) -> None:
        found = owner.execute(
            "SELECT c.relname, count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
            " WHERE c.relnamespace = 'es'::regnamespace AND t.tgname LIKE 'append_only%'"
            " AND t.tgenabled = 'A' GROUP BY 1"
        ).fetchall()

        assert dict(found) == dict.fromkeys((*PROTECTED, "match_head"), 2)


class TestRights:
    @pytest.mark.parametrize("table", TABLES)
    @pytest.mark.parametrize(
        "statement",
        ["INSERT INTO es.{} DEFAULT VALUES", "DELETE FROM es.{}", "TRUNCATE es.{}"],
    )
    def test_give_the_app_no_way_to_write_a_table(
        self, app: psycopg.Connection, table: str, statement: str
    ) -> None:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app.execute(sql.SQL(statement).format(sql.Identifier(table)))

    def test_give_the_app_only_reading_and_the_functions(self, owner: psycopg.Connection) -> None:
        rights = owner.execute(
            "SELECT table_name, privilege_type FROM information_schema.role_table_grants"
            " WHERE table_schema = 'es' AND grantee = 'xqmj_app'"
        ).fetchall()
        columns = owner.execute(
            "SELECT DISTINCT privilege_type FROM information_schema.role_column_grants"
            " WHERE table_schema = 'es' AND grantee = 'xqmj_app'"
        ).fetchall()
        functions = owner.execute(
            "SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'es'::regnamespace"
            " AND has_function_privilege('xqmj_app', p.oid, 'EXECUTE')"
        ).fetchall()

        assert set(rights) == {(table, "SELECT") for table in TABLES}
        assert columns == [("SELECT",)]
        assert {name for (name,) in functions} == {
            "now_ms",
            "order_of",
            "append_events",
            "create_match",
            "load_match",
            "beat",
            "due_matches",
        }

    def test_give_the_auditor_only_reading(self, servers: Servers) -> None:
        with psycopg.connect(servers.auditor_url, autocommit=True) as auditor:
            for table in TABLES:
                auditor.execute(sql.SQL("SELECT FROM es.{} LIMIT 1").format(sql.Identifier(table)))
            for call in ("es.beat(1000)", "es.due_matches(1, '{}', 0)"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    auditor.execute(sql.SQL("SELECT * FROM " + call))
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                auditor.execute("SELECT FROM matches_player")

    def test_give_the_public_nothing(self, owner: psycopg.Connection) -> None:
        found = owner.execute(
            "SELECT has_schema_privilege('public', 'es', 'USAGE'),"
            " bool_or(has_function_privilege('public', p.oid, 'EXECUTE'))"
            " FROM pg_proc p WHERE p.pronamespace = 'es'::regnamespace"
        ).fetchone()

        assert found == (False, False)

    def test_let_the_app_write_ordinary_tables_but_not_what_was_migrated(
        self, app: psycopg.Connection
    ) -> None:
        assert app.execute(
            "SELECT has_table_privilege('matches_player', 'INSERT'),"
            " has_table_privilege('matches_writekey', 'DELETE'),"
            " has_table_privilege('django_migrations', 'SELECT'),"
            " has_table_privilege('django_migrations', 'INSERT')"
        ).fetchone() == (True, True, True, False)


class TestFunctions:
    def test_run_as_the_owner_under_a_path_of_their_own(self, owner: psycopg.Connection) -> None:
        found = owner.execute(
            "SELECT proname, prosecdef, proconfig FROM pg_proc"
            " WHERE pronamespace = 'es'::regnamespace "
            " AND prolang = (SELECT oid FROM pg_language WHERE lanname = 'plpgsql')"
        ).fetchall()

        assert {name for name, _, _ in found} >= {"append_events", "load_match"}
        for name, definer, settings in found:
            assert settings == ["search_path=pg_catalog, pg_temp"], name
            assert definer or name in ("refuse_change", "protect", "go_on_in_order")

    def test_are_not_misled_by_objects_of_the_caller(self, owner: psycopg.Connection) -> None:
        stream = begun()
        owner.execute("CREATE TEMP TABLE match_head (match_id uuid, version integer)")
        owner.execute("SET search_path = pg_temp, es, public")

        found = owner.execute(
            "SELECT version FROM es.load_match(%s, 0)", (stream.match_id,)
        ).fetchone()

        assert found == (1,)
