#!/bin/sh
# Create the roles at a PostgreSQL container's first start (compose.yaml mounts it there).
# The passwords travel as settings of the session, so they appear in no process list and no
# statement; letters, digits, - and _ only.
set -eu
for name in OWNER APP AUDITOR; do
    eval "password=\${XQMJ_${name}_PASSWORD:?XQMJ_${name}_PASSWORD is not set}"
    case $password in
        *[!A-Za-z0-9_-]*)
            echo "XQMJ_${name}_PASSWORD: letters, digits, - and _ only" >&2
            exit 1
            ;;
    esac
    role=$(echo "$name" | tr '[:upper:]' '[:lower:]')
    PGOPTIONS="${PGOPTIONS:-} -c xqmj.${role}_password=$password"
done
export PGOPTIONS
folder=${XQMJ_SQL_DIR:-/srv/xqmj}
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" \
    --dbname "${POSTGRES_DB:-xqmj}" --file "$folder/roles.sql" --file "$folder/database.sql"
