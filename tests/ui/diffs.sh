#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The page's diff of shapes is tested against what weft says of random shapes; this checks that weft
# still says it. usage: ... WEFT
set -eu
work=$(mktemp -d "$WEFT_BUILD_ROOT/diffs.XXXXXX")
trap 'rm -rf "$work"' EXIT
weft=$(realpath "$1")
cd "$WEFT_SOURCE_ROOT/ui/tests"
node fixtures/make-diffs.mjs "$weft" >"$work/diffs.json"
if cmp -s "$work/diffs.json" fixtures/diffs.json; then
    echo "ok 1 - the distances of random shapes are those that the page is tested with"
else
    echo "not ok 1 - ui/tests/fixtures/diffs.json is not what make-diffs.mjs writes"
fi
echo 1..1
