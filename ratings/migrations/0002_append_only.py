"""Lets nobody change the rating log: rights keep the app out, triggers the owner too."""

from __future__ import annotations

from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

LOG = "ratings_ratingevent"
READ = ("ratings_ratingevent", "ratings_rating", "ratings_catchup")

PROTECT = f"""
CREATE FUNCTION ratings_refuse_change() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% on % refused: append-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER append_only_row BEFORE UPDATE OR DELETE ON {LOG}
    FOR EACH ROW EXECUTE FUNCTION ratings_refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON {LOG}
    FOR EACH STATEMENT EXECUTE FUNCTION ratings_refuse_change();
-- ALWAYS: also for a session that calls itself a replica.
ALTER TABLE {LOG} ENABLE ALWAYS TRIGGER append_only_row;
ALTER TABLE {LOG} ENABLE ALWAYS TRIGGER append_only_truncate;
"""

UNPROTECT = f"""
DROP TRIGGER append_only_row ON {LOG};
DROP TRIGGER append_only_truncate ON {LOG};
DROP FUNCTION ratings_refuse_change();
"""


def _exists(schema_editor: BaseDatabaseSchemaEditor, role: str) -> bool:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_roles WHERE rolname = %s", [role])
        return cursor.rowcount > 0


def grant(_apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Give the app and the auditor what they need of these tables and no more."""
    app, auditor = settings.XQMJ_APP_ROLE, settings.XQMJ_AUDITOR_ROLE
    if _exists(schema_editor, app):
        role = schema_editor.quote_name(app)
        schema_editor.execute(f"REVOKE ALL ON {LOG} FROM {role}")
        schema_editor.execute(f"GRANT SELECT, INSERT ON {LOG} TO {role}")
        schema_editor.execute(f"REVOKE INSERT, DELETE, TRUNCATE ON ratings_catchup FROM {role}")
    if _exists(schema_editor, auditor):
        role = schema_editor.quote_name(auditor)
        schema_editor.execute(f"GRANT SELECT ON {', '.join(READ)} TO {role}")


def begin(apps: Apps, _schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Make the one row of the catch-up, which is locked and never made again."""
    apps.get_model("ratings", "CatchUp").objects.create()


class Migration(migrations.Migration):
    dependencies = [("ratings", "0001_initial")]

    operations = [
        migrations.RunSQL(PROTECT, UNPROTECT),
        migrations.RunPython(begin, migrations.RunPython.noop),
        migrations.RunPython(grant, migrations.RunPython.noop),
    ]
