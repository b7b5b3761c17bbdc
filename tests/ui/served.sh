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
# A database of a later version, unless the program has none.
if "$weft" executions -q --begin 'call:*' --type call --limit 1 --db "$work/newer.db" "$work/t.weft" >/dev/null; then
    python3 -c 'import sqlite3, sys
sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version = 99")' "$work/newer.db"
fi
cd "$WEFT_SOURCE_ROOT/ui"
node tests/browser/served.mjs "$weft" "$work/t.weft" "$work/k.weft" "$work/newer.db" </dev/null
