#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tools/new-analysis in a copy of the tree: what it makes compiles with all warnings, has its columns,
# and its test passes; the tool refuses names that exist. Objects of this build serve as the rest.
# usage: test_new_analysis.sh BUILD_ROOT
set -u
build=$1
source=${WEFT_SOURCE_ROOT:-.}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
n=0 n_failed=0

check() { # check STATUS TEXT
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; n_failed=$((n_failed + 1)); fi
}

(cd "$source" && tar cf - src tests/unit tests/support \
    man docs/analyses tools) | tar xf - -C "$copy"
"$copy/tools/new-analysis" gauge_of >"$copy/log" 2>&1
check $? "it lays out an analysis"
"$copy/tools/new-analysis" gauge_of >/dev/null 2>&1
[ $? -ne 0 ]
check $? "a name that exists is refused"
"$copy/tools/new-analysis" 'Not/A Name' >/dev/null 2>&1
[ $? -ne 0 ]
check $? "and one that is no name"
"$copy/tools/check-floors" "$copy" >/dev/null
check $? "its includes point down the floors"

# Compiles a file of the copy as this build compiles the test of the example.
compile() { # compile FILE OBJECT
    command=$(cd "$build" && ninja -t commands tests/unit/test_roots.p/test_roots.c.o | tail -1 |
        sed -e "s|-M[FQ] [^ ]*||g" -e "s|-MD||" -e "s|-c [^ ]*test_roots.c|-c $copy/$1|" \
            -e "s|-o [^ ]*test_roots.c.o|-o $copy/$2|" -e "s|-I\.\./\.\./|-I$copy/|g")
    (cd "$build" && sh -c "$command") >"$copy/log" 2>&1
    check $? "$1 compiles"
}
compile src/analysis/gauge_of/gauge_of.c gauge_of.o
compile src/query/registry.c registry.o
compile tests/unit/test_gauge_of.c test_gauge_of.o
# The registry of the copy comes before that of the library, which is then not needed.
command=$(cd "$build" && ninja -t commands tests/unit/test_roots | tail -1 |
    sed -e "s|-o tests/unit/test_roots |-o $copy/test |" \
        -e "s|tests/unit/test_roots.p/test_roots.c.o|$copy/test_gauge_of.o $copy/gauge_of.o $copy/registry.o|")
(cd "$build" && sh -c "$command") >"$copy/log" 2>&1
check $? "it links"
(cd "$copy" && WEFT_BUILD_ROOT=$copy ./test >"$copy/log" 2>&1)
check $? "its test passes"
[ "$n_failed" -eq 0 ] || sed 's/^/# /' "$copy/log"
echo "1..$n"
