#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The page in a headless browser (ui/tests/browser speaks TAP).
set -eu
cd "$WEFT_SOURCE_ROOT/ui"
../tools/embed-ui build . /dev/null # dist/, unless it is newer than its sources
exec node tests/browser/run.mjs </dev/null
