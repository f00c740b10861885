#!/usr/bin/env bash
# Makes a virtual environment: scripts/venv.sh FOLDER
# Takes PYTHON if it is set, else the first Python >= 3.11 on the PATH. On a bare Debian the
# venv module is a package of its own: installed when we are root, else asked for by name.
set -euo pipefail

folder=$1

fits() {
    command -v "$1" >/dev/null && "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))'
}

find_python() {
    local name
    for name in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
        if fits "$name"; then
            echo "$name"
            return
        fi
    done
    echo "Skitter needs Python 3.11 or later; name one with PYTHON=..." >&2
    return 1
}

has_venv() {
    "$1" -c 'import ensurepip, venv' 2>/dev/null
}

install_venv() {
    local package
    package=$("$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package"
    else
        echo "$1 has no venv module. Install it first: sudo apt-get install $package" >&2
        return 1
    fi
}

python=$(find_python)
has_venv "$python" || install_venv "$python"
"$python" -m venv "$folder"
