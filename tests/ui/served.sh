#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The page that weft serves, in the browser. usage: ... WEFT
set -eu
work=$(mktemp -d "$WEFT_BUILD_ROOT/served.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$1" import -q -o "$work/t.weft" "$WEFT_SOURCE_ROOT"/tests/golden/input/*.txt
cd "$WEFT_SOURCE_ROOT/ui"
node tests/browser/served.mjs "$1" "$work/t.weft" </dev/null
