#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Reports in the browser: of calls, of the kernel alone, and of fresh recordings with a planted fault
# and without. usage: ... WEFT KINDS
set -eu
work=$(mktemp -d "$WEFT_BUILD_ROOT/report.XXXXXX")
trap 'rm -rf "$work"' EXIT
weft=$(realpath "$1")
kinds=$(realpath "$2")
names="calls kernel"

"$weft" import -q -o "$work/calls.weft" "$WEFT_SOURCE_ROOT"/tests/golden/input/*.txt
cat >"$work/kernel.txt" <<'END'
          <idle>-0       [000] d.... 100.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=main next_pid=10 next_prio=120
            main-10      [000] d.... 100.010000: sched_switch: prev_comm=main prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=work next_pid=11 next_prio=120
            work-11      [000] d.... 100.040000: sched_waking: comm=main pid=10 prio=120 target_cpu=000
            work-11      [000] d.... 100.041000: sched_switch: prev_comm=work prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=main next_pid=10 next_prio=120
            main-10      [000] d.... 100.050000: sched_switch: prev_comm=main prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
END
"$weft" import -q -o "$work/kernel.weft" "$work/kernel.txt"

record() { # NAME ARGUMENT...
    name=$1
    shift
    (cd "$work" && "$weft" record -q --no-kernel -o "$name.weft" -- "$kinds" "$@" >"$name.out" 2>"$name.err")
}
if record lock lock; then
    record healthy lock --healthy
    names="lock healthy $names"
else
    echo "# nothing can be recorded here: $(head -n 1 "$work/lock.err")"
fi
for name in $names; do
    "$weft" report -q "$work/$name.weft" -o "$work/$name.html"
done
"$weft" report -q --without-findings "$work/calls.weft" -o "$work/without.html"
cd "$WEFT_SOURCE_ROOT/ui"
# shellcheck disable=SC2086 # one word a name
node tests/browser/report.mjs "$weft" "$work" $names </dev/null
