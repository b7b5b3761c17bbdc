# SPDX-License-Identifier: MIT
#
# For scripts that test a tester, which is run first: `found` is what it printed.
n=0
ok() { # ok NAME COMMAND...
    n=$((n + 1))
    name=$1
    shift
    if "$@"; then echo "ok $n - $name"; else echo "not ok $n - $name"; fi
}
has() { echo "$found" | grep -q "$1"; }
