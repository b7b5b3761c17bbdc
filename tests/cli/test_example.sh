#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The bundled example from end to end: compiled with XRay, recorded, imported with the names of its
# own ELF file, analysed. usage: ... WEFT
set -u
weft=$1
if ! command -v clang-14 >/dev/null; then
    echo "1..0 # SKIP no clang-14 here"
    exit 0
fi
work=$(mktemp -d "$WEFT_BUILD_ROOT/example.XXXXXX")
trap 'rm -rf "$work"' EXIT
n=0

ok() { # ok NAME COMMAND...
    n=$((n + 1))
    name=$1
    shift
    if "$@"; then echo "ok $n - $name"; else echo "not ok $n - $name"; fi
}
has() { grep -q -- "$2" "$work/$1"; }

for pie in -pie -no-pie; do
    [ $pie = -pie ] && code=-fPIE || code=-fno-PIE
    # shellcheck disable=SC2086
    clang-14 -std=gnu17 -O1 -g -fno-inline -Wall -Wextra -Wpedantic -Werror -D_GNU_SOURCE -pthread \
        $code $pie -fxray-instrument -fxray-instruction-threshold=1 examples/kv/*.c -o "$work/kv"
    ok "$pie: the example compiles without a warning" [ $? -eq 0 ]
    rm -f "$work"/log.*
    XRAY_OPTIONS="xray_logfile_base=$work/log. verbosity=0" \
        KV_XRAY="func_duration_threshold_us=0:buffer_size=65536:buffer_max=512" \
        "$work/kv" --ops 4000 "$work/kv.data" >"$work/kv.out" 2>/dev/null
    ok "$pie: it runs" has kv.out "0 failed"
    set -- "$work"/log.*
    ok "$pie: it records" [ -s "$1" ]
    "$weft" import -q -o "$work/kv.weft" "$1" --binary "$work/kv" 2>"$work/err"
    ok "$pie: the log imports" [ $? -eq 0 ]
    "$weft" functions --format csv "$work/kv.weft" >"$work/functions"
    for function in main client_thread kv_put kv_get flush_thread compaction_thread; do
        ok "$pie: $function has its name" has functions "$function"
    done
    "$weft" info --json "$work/kv.weft" >"$work/info"
    ok "$pie: seven threads" has info '"threads": *7,'
    ok "$pie: every function is named" has info '"unnamed_functions": *0,'
    "$weft" regtime --segments "$work/kv.weft" >"$work/regtime"
    ok "$pie: regtime shows the compaction" has regtime compaction_thread
done
echo "1..$n"
