#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The tester tested: check-words finds the terms and the wide line of words/, and only those.
set -u
found=$(tools/check-words tests/house/words)
status=$?
. tests/house/found.sh
ok "a bad tree fails" [ $status -ne 0 ]
ok "a literal is found" has "src/bad.c:[0-9]*: 'nobody'"
ok "each term of a line is found" has "src/bad.c:[0-9]*: 'told'"
ok "a term of hardware is found" has "src/bad.c:[0-9]*: 'processor'"
ok "a comma and too are found" has "src/bad.c:[0-9]*: ', too'"
ok "a page is searched" has "docs/bad.md:1: 'had at once'"
ok "so is its last line" has "docs/bad.md:5: 'goes on'"
ok "a wide line is found" has "wide.txt:1: 101 columns"
ok "comments, keys, code and errors are not text" has '^7 complaints$'
echo "1..$n"
