#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The page in a headless browser (ui/tests/browser).
set -eu
cd "$WEFT_SOURCE_ROOT/ui"
exec npm run --silent test:browser </dev/null
