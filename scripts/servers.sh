#!/usr/bin/env bash
# Sees to the servers that the tests run on: uses what is installed, else installs the system's
# package when we are root, else goes on, and the tests that need it skip and say so.
# With SKITTER_REQUIRE_SERVERS=1, a missing server is an error.
set -euo pipefail

# RUNLEVEL=1 keeps the package from starting a server of its own.
install_redis() {
    apt-get update -qq &&
        RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends redis-server
}

if ! command -v redis-server >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        install_redis >&2 || echo "redis-server could not be installed" >&2
    fi
fi

if command -v redis-server >/dev/null; then
    redis-server --version
elif [ "${SKITTER_REQUIRE_SERVERS:-}" = 1 ]; then
    echo "redis-server is missing, and SKITTER_REQUIRE_SERVERS=1 asks for it" >&2
    exit 1
else
    echo "redis-server is missing: the tests that need it are skipped" >&2
fi
