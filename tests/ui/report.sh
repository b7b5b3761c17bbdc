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

# What no page may have: names of a folder, of a user and of a host.
cat >"$work/planted.json" <<'END'
{"traceEvents":[
{"ph":"M","name":"process_name","pid":1,"args":{"name":"/home/planted-user/planted-folder/bin/program"}},
{"ph":"X","pid":1,"tid":1,"name":"/home/planted-user/planted-folder/page.py:serve","ts":10,"dur":900},
{"ph":"X","pid":1,"tid":1,"name":"open /home/planted-user/planted-folder/data.bin","ts":20,"dur":300},
{"ph":"X","pid":1,"tid":2,"name":"/home/planted-user/planted-folder/page.py:work","ts":15,"dur":700}]}
END
mkdir "$work/planted-folder"
mv "$work/planted.json" "$work/planted-folder/"
"$weft" import -q -o "$work/planted.weft" "$work/planted-folder/planted.json"
on_planted_host() { # COMMAND...: on a host of that name, if there may be one
    if unshare -u true 2>"$work/unshare.err"; then
        unshare -u sh -c 'hostname planted-host && exec "$@"' sh "$@"
    else
        "$@"
    fi
}

record() { # NAME ARGUMENT...
    name=$1
    shift
    (cd "$work" && on_planted_host "$weft" record -q --no-kernel -o "$name.weft" -- "$kinds" "$@" \
        >"$name.out" 2>"$name.err")
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
"$weft" report -q "$work/planted.weft" -o "$work/planted.html"
"$weft" report -q --with-paths "$work/planted.weft" -o "$work/with-paths.html"
"$weft" report -q --without-findings "$work/calls.weft" -o "$work/without.html"
cd "$WEFT_SOURCE_ROOT/ui"
# shellcheck disable=SC2086 # one word a name
node tests/browser/report.mjs "$weft" "$work" $names </dev/null
