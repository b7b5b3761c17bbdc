#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The page in a headless browser (ui/tests/browser speaks TAP).
set -eu
cd "$WEFT_SOURCE_ROOT/ui"
exec node tests/browser/run.mjs </dev/null
