#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Pages of a trace whose names are hostile. usage: ... WEFT
set -eu
work=$(mktemp -d "$WEFT_BUILD_ROOT/policy.XXXXXX")
trap 'rm -rf "$work"' EXIT
weft=$(realpath "$1")
python3 -c '
import json, sys
name = "evil \u202e\u2066\u200b\u200f\u0085\u001b[31m</script><script>window.injected = 9</script><img src=x onerror=injected=8>"
common = {"pid": 1, "cat": name}
json.dump([
    {"ph": "M", "name": "thread_name", "ts": 0, "tid": 1, **common, "args": {"name": name}},
    *[{"ph": "X", "name": name + str(n % 3), "ts": n * 10, "dur": 9, "tid": 1, "args": {name: name}, **common} for n in range(50)],
], open(sys.argv[1], "w"))' "$work/t.json"
"$weft" import -q -o "$work/t.weft" "$work/t.json"
"$weft" report -q "$work/t.weft" -o "$work/t.html"
cd "$WEFT_SOURCE_ROOT/ui"
node tests/browser/policy.mjs "$weft" "$work/t.weft" "$work/t.html" "$work" </dev/null
