#!/bin/sh
# Pin the requirement files from their .in files: one resolution that fits every Python and
# platform we support, with the hashes of all its files. LOCK_ARGS=--upgrade takes newer releases.
set -eu
cd "$(dirname "$0")/../.."

compile() {
    .venv/bin/uv pip compile --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-header --quiet ${LOCK_ARGS:-} "$@"
}

compile requirements.in -o requirements.txt
compile --constraint requirements.txt requirements-dev.in -o requirements-dev.txt
compile --constraint requirements-dev.txt \
    xqmj_site/devstack/requirements.in -o xqmj_site/devstack/requirements.txt
