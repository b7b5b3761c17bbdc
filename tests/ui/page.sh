#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A page that weft wrote, in the browser. usage: ... WEFT
set -eu
work=$(mktemp -d "$WEFT_BUILD_ROOT/page.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$1" import -q -o "$work/t.weft" "$WEFT_SOURCE_ROOT"/tests/golden/input/*.txt
"$1" report -q "$work/t.weft" -o "$work/t.html"
cd "$WEFT_SOURCE_ROOT/ui"
node tests/browser/run.mjs "$work/t.html" </dev/null
