#!/usr/bin/env bash
# Sees to the servers that the tests run on: uses what is installed, else installs the system's
# package when we are root, else goes on, and the tests that need it skip and say so.
# With SKITTER_REQUIRE_SERVERS=1, a missing server is an error.
set -euo pipefail

# Programs, and the packages that have them.
programs=(redis-server tinyproxy microsocks initdb)
declare -A package=([redis-server]=redis-server [tinyproxy]=tinyproxy-bin [microsocks]=microsocks
    [initdb]=postgresql)

# Debian keeps PostgreSQL's programs off the PATH.
PATH="$PATH:$(printf '%s:' /usr/lib/postgresql/*/bin)"

# RUNLEVEL=1 keeps a package from starting a server of its own.
install() {
    apt-get update -qq &&
        RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "$@"
}

missing() {
    for program in "${programs[@]}"; do
        command -v "$program" >/dev/null || echo "$program"
    done
}

absent=$(missing)
if [ -n "$absent" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    for program in $absent; do
        install "${package[$program]}" >&2 || install "${package[$program]}" >&2 ||
            echo "$program could not be installed" >&2
    done
fi

if command -v redis-server >/dev/null; then
    redis-server --version
fi
for program in $(missing); do
    if [ "${SKITTER_REQUIRE_SERVERS:-}" = 1 ]; then
        echo "$program is missing, and SKITTER_REQUIRE_SERVERS=1 asks for it" >&2
        exit 1
    fi
    echo "$program is missing: the tests that need it are skipped" >&2
done
