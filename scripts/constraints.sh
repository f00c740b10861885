#!/usr/bin/env bash
# Prints constraints.txt for what is installed: scripts/constraints.sh PYTHON
set -euo pipefail

echo "# Every package by its exact version, so that an install is the same tomorrow."
echo "# Used by every install in the Makefile; \`make constraints\` writes it anew."
"$1" -m pip --disable-pip-version-check list --format=freeze --exclude-editable \
    --exclude pip --exclude setuptools --exclude wheel | sort -f
