#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The tester tested: check-floors finds the four bad includes of bad/, and only those.
set -u
found=$(tools/check-floors tests/house/bad)
status=$?
. tests/house/found.sh
ok "a bad tree fails" [ $status -ne 0 ]
ok "an include that points up is found" has 'up.c:3: base may not include store/up.h'
ok "an include that points sideways is found" has 'sideways.c:3: store may not include ingest/xray'
ok "a format that sees another is found" has 'neighbour.c:3: ingest/text may not include'
ok "a front end that looks behind the door is found" has 'behind.c:3: serve may not include model/trace.h'
ok "includes that point down are allowed" has '5 files, 4 includes'
tools/check-floors tests/house/empty >/dev/null 2>&1
ok "a tree without sources fails" [ $? -ne 0 ]
echo "1..$n"
