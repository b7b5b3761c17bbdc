#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Screen 0 on fresh recordings of a server with a lock that is held too long, and without, in the browser.
# usage: ... WEFT KINDS
set -eu
work=$(mktemp -d "$WEFT_BUILD_ROOT/findings.XXXXXX")
trap 'rm -rf "$work"' EXIT
weft=$(realpath "$1")
kinds=$(realpath "$2")

record() { # NAME ARGUMENT...
    name=$1
    shift
    (cd "$work" && "$weft" record -q --no-kernel -o "$name.weft" -- "$kinds" "$@" >"$name.out" 2>"$name.err")
}
if ! record lock lock; then
    echo "1..0 # SKIP nothing can be recorded here: $(head -n 1 "$work/lock.err")"
    exit 0
fi
record healthy lock --healthy
cd "$WEFT_SOURCE_ROOT/ui"
node tests/browser/findings.mjs "$weft" "$work" </dev/null
