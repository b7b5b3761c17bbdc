#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Screen 4 on fresh recordings of the bundled examples, in the browser.
# usage: ... WEFT WORKERS HANG INTERPLAY (the programs)
set -eu
work=$(mktemp -d "$WEFT_BUILD_ROOT/recorded.XXXXXX")
trap 'rm -rf "$work"' EXIT
weft=$(realpath "$1")
workers=$(realpath "$2")
hang=$(realpath "$3")
interplay=$(realpath "$4")

record() { # NAME PROGRAM ARGUMENT...
    name=$1
    shift
    (cd "$work" && "$weft" record -q --no-kernel -o "$name.weft" -- "$@" >"$name.out" 2>"$name.err")
}
if ! record workers "$workers" --runs 20; then
    echo "1..0 # SKIP nothing can be recorded here: $(head -n 1 "$work/workers.err")"
    exit 0
fi
record workers-fixed "$workers" --fixed --runs 20
record hang "$hang" --runs 45
record hang-fixed "$hang" --fixed --runs 45
record poll "$interplay" hang "$work/poll.tsv" 1
cd "$WEFT_SOURCE_ROOT/ui"
node tests/browser/recorded.mjs "$weft" "$work" </dev/null
