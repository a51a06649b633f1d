#!/bin/sh
# Chromium for the tests of the report's page: Debian's, where there is none yet. Where it cannot be
# installed, these tests are skipped.
set -eu
if [ -n "${HDSP_CHROMIUM:-}" ]; then exit 0; fi
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing Chromium"
    export DEBIAN_FRONTEND=noninteractive
    if apt-get update -qq && apt-get install -y -qq chromium >/dev/null; then exit 0; fi
fi
echo "The report's page is not tested: install Chromium, or name it in HDSP_CHROMIUM." >&2
