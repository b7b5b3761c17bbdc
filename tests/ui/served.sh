#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The page that weft serves, in the browser. usage: ... WEFT
set -eu
work=$(mktemp -d "$WEFT_BUILD_ROOT/served.XXXXXX")
trap 'rm -rf "$work"' EXIT
weft=$(realpath "$1")
python3 "$WEFT_SOURCE_ROOT/tests/ui/served_trace.py" "$work/t.csv"
"$weft" import -q -o "$work/t.weft" "$work/t.csv"
python3 "$WEFT_SOURCE_ROOT/tests/golden/kernel_trace.py" "$work/kernel"
"$weft" import -q -o "$work/k.weft" "$work/kernel"
cd "$WEFT_SOURCE_ROOT/ui"
node tests/browser/served.mjs "$weft" "$work/t.weft" "$work/k.weft" </dev/null
