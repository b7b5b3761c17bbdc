#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The unit tests of ui/, as TAP. The reporter puts times where Meson expects directives.
set -u
cd "$WEFT_SOURCE_ROOT/ui" || exit 1
log=$WEFT_BUILD_ROOT/ui-unit.tap
node_modules/.bin/vitest run --reporter=tap-flat >"$log" </dev/null
status=$?
sed 's/ # time=.*//' "$log" | grep -E '^(TAP version|1\.\.|ok |not ok |# |Bail)' || status=1
exit $status
