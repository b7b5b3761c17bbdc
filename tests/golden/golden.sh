#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Compares what the commands print, as text, CSV and JSON, with the files in expected/.
# usage: golden.sh WEFT; UPDATE_GOLDEN=1 rewrites the files instead.
set -u
weft=$1
here=$(cd "$(dirname "$0")" && pwd)
work=${WEFT_BUILD_ROOT:-/tmp}/golden.$$
mkdir -p "$work" || exit 1
trap 'rm -rf "$work"' EXIT
n=0

# The size of the file is no promise: it changes with the layout of the store.
normalise() {
    sed -e 's/"exporter":"weft [0-9.]*"/"exporter":"weft VERSION"/' \
        -e 's/"bytes_out":[0-9]*/"bytes_out":SIZE/' -e 's/"bytes_per_call":[0-9.e+-]*/"bytes_per_call":RATIO/' \
        -e 's/^  size .*/  size SIZE/' -e '/^threads,functions,/,$s/,[0-9]*$/,SIZE/'
}

# golden NAME ARGS...: what `weft ARGS` prints, and its status if it fails, is expected/NAME.
golden() {
    name=$1
    shift
    n=$((n + 1))
    (cd "$work" && { "$weft" "$@" 2>&1 || echo "exit $?"; }) | normalise >"$work/out"
    if [ "${UPDATE_GOLDEN:-}" = 1 ]; then
        cp "$work/out" "$here/expected/$name"
    fi
    if cmp -s "$work/out" "$here/expected/$name"; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        diff "$here/expected/$name" "$work/out" 2>&1 | head -20 | sed 's/^/# /'
    fi
}

case $weft in /*) ;; *) weft=$PWD/$weft ;; esac
cp "$here"/input/*.txt "$here"/locks.txt "$here"/../data/store/v1_events.weft "$work" || exit 1

golden import.txt import -o t.weft worker-11.txt odd-12.txt
golden info.txt info --threads t.weft
golden info.json info --json t.weft
golden info.csv info --format csv t.weft
golden info_threads.csv info --format csv --threads t.weft
golden info_events.txt info --threads v1_events.weft
golden info_events.json info --json v1_events.weft
golden functions.txt functions t.weft
golden functions.json functions --json t.weft
golden functions.csv functions --format csv --sort count t.weft
golden functions_one.txt functions --filter /^hash/ --tid 11 t.weft
golden functions_none.txt functions --filter nowhere t.weft
golden regtime.txt regtime t.weft
golden regtime.json regtime --json t.weft
golden regtime.csv regtime --format csv t.weft
golden regtime_segments.txt regtime --segments t.weft
golden regtime_segments.csv regtime --segments --format csv t.weft
golden regtime_fine.txt regtime --segments --preset fine --glyphs 9 --tid 11 t.weft
golden regtime_raised.txt regtime --glyphs 2 --tid 11 t.weft
golden regtime_times.txt regtime --duration 5ms --gap 1ms --span 20ms t.weft
golden regtime_window.txt regtime --segments --from 20us --to 60us t.weft
golden regtime_negligible.txt regtime --segments --negligible 0.5% t.weft
golden outliers.txt outliers t.weft
golden outliers.json outliers --json t.weft
golden outliers.csv outliers --format csv t.weft
golden outliers_flush.txt outliers --function flush --longer-than 1us t.weft
golden outliers_gaps.txt outliers --gaps t.weft
golden outliers_none.txt outliers --function hash --longer-than 1s t.weft
golden export.json export --format chrome t.weft
golden export.csv export --format csv t.weft
golden export_window.csv export --format csv --from 4ms --to 5000200ns --tid 11 t.weft
golden export.folded export --format folded t.weft
golden export_calls.folded export --format folded --weight calls --tid 12 t.weft
golden export_speedscope.json export --format speedscope --tid 12 t.weft
golden interval.txt interval --from 1us --to 5us t.weft
golden interval.json interval --json --from 1us --to 5us t.weft
golden interval.csv interval --format csv --tid 11 t.weft
golden interval_during.txt interval --during 11:hash:2 -n 3 t.weft
golden interval_none.txt interval --from 2h --to 3h --tid 11 t.weft
python3 "$here/kernel_trace.py" "$work/kernel" || exit 1
golden kernel_import.txt import -o k.weft kernel
golden kernel_info.json info --json k.weft
golden states.txt states k.weft
golden states.json states --json --tid 10 k.weft
golden states.csv states --format csv --from 60us --to 110us k.weft
golden states_at.txt states --at 105us k.weft
golden states_unknown.txt states -n 3 v1_events.weft
golden waits.txt waits k.weft
golden waits.json waits --json --tid 10,40 k.weft
golden waits.csv waits --format csv k.weft
golden waits_causes.txt waits --causes --from 50us --to 310us -n 4 k.weft
golden waits_causes.csv waits --causes --format csv --tid 10 k.weft
golden cpu.txt cpu --threads k.weft
golden cpu.json cpu --json k.weft
golden cpu.csv cpu --format csv --from 100us --to 200us k.weft
golden locks_import.txt import -o l.weft locks.txt
golden locks.txt locks -n 0 l.weft
golden locks_limit.txt locks -n 2 --tid 22 --to 60us l.weft
golden locks_one.txt locks --lock cache l.weft
golden locks.json locks --json l.weft
golden locks.csv locks --format csv l.weft
golden locks_blockers.csv locks --format csv --list blockers l.weft
golden locks_kernel.txt locks k.weft
golden locks_none.txt locks t.weft
golden locks_other.txt locks --from 190us --lock cache l.weft
golden error_locks_name.txt locks --lock cash l.weft
golden error_locks_none.txt locks --lock cash t.weft
golden error_locks.txt locks --list holds t.weft
golden interplay.txt interplay -n 0 l.weft
golden interplay_limit.txt interplay --patterns --matrix -n 2 --tid 22 --to 60us l.weft
golden interplay_object.txt interplay --object cache --from 10us l.weft
golden interplay.json interplay --json l.weft
golden interplay_waits.csv interplay --format csv --list waits l.weft
golden interplay_kernel.txt interplay k.weft
golden interplay_none.txt interplay t.weft
golden error_interplay.txt interplay --table locks.txt t.weft
golden path_locks.txt path --thread 23 l.weft
golden path_locks.json path --thread 21 --json l.weft
golden path.txt path --thread 11 --from 1us --to 5us t.weft
golden path.json path --thread 12 --json t.weft
golden path.csv path --thread 11 --format csv t.weft
golden path_during.txt path --during 11:hash:2 --width 40 -n 3 t.weft
golden error_path.txt path --thread 99 t.weft
golden error_path_none.txt path t.weft
golden path_kernel.txt path --thread 10 k.weft
golden path_kernel.json path --thread 10 --json k.weft
golden error_interval.txt interval --during 11:nowhere t.weft
golden error_window.txt interval --from 2s --to 1s t.weft
golden executions.txt executions --begin call:hash t.weft
golden executions.json executions --json --begin call:hash -n 3 t.weft
golden executions.csv executions --format csv --begin enter:hash --end exit:hash t.weft
golden executions_slow.txt executions --begin 'call:* where depth = 1' --type inner --slower-than 1us t.weft
golden executions_kernel.txt executions --begin 'syscall:*' --path k.weft
golden executions_proposed.txt executions t.weft
golden executions_proposed.json executions --json t.weft
golden executions_none.txt executions --begin call:nowhere t.weft
golden error_executions.txt executions --begin 'call:hash where depth > deep' t.weft
golden shapes.txt shapes t.weft
golden shapes.json shapes --json t.weft
golden shapes.csv shapes --format csv t.weft
golden shapes_threads.csv shapes --threads --format csv t.weft
golden shapes_limit.txt shapes --limit 1 --min-count 2 --exclude /^log$/ t.weft
golden shapes_calls.txt shapes --function get --calls log t.weft
golden shapes_cluster.txt shapes --cluster 5 t.weft
golden shapes_cluster.json shapes --cluster 5 --json t.weft
golden shapes_diff.txt shapes --diff 5 6 t.weft
golden shapes_diff.json shapes --diff 5 6 --json t.weft
golden shapes_near.txt shapes --near 5 2 t.weft
golden shapes_list.txt shapes --list-shapes --sort id t.weft
golden shapes_list.json shapes --list-shapes --json --tid 11 t.weft
golden shapes_spikes.txt shapes --spikes t.weft
golden shapes_drops.txt shapes --drops t.weft
golden shapes_rare.txt shapes --rare t.weft
golden shapes_rare.json shapes --rare --json t.weft
golden shapes_exclude.txt shapes --exclude "lost|log" --tid 12 t.weft
golden shapes_verify.txt shapes --verify t.weft
golden shapes_versus.txt shapes --new-in t.weft@20us- --vs @-20us
golden shapes_versus.json shapes --json --from 20us --vs @-20us t.weft
golden shapes_versus.csv shapes --format csv --vs v1_events.weft t.weft
golden shapes_none.txt shapes --exclude /./ t.weft
golden shapes_trivial.txt shapes --from 3us --to 5us --tid 11 t.weft
golden error_shapes.txt shapes --cluster 99 t.weft
golden error_shapes_near.txt shapes --near 99 1 t.weft
golden error_shapes_threshold.txt shapes --threshold 0.7 t.weft
golden error_shapes_both.txt shapes --spikes --drops t.weft
golden colours_shapes.txt shapes --color always --cluster 5 t.weft
golden colours.txt functions --color always --limit 2 t.weft
golden cut.txt cut -o cut.weft --from 30ms --to 38ms t.weft
golden cut_functions.txt functions cut.weft
golden cut_tid.txt cut -o cut.weft --tid 12 --to 20ms t.weft
golden merge.txt merge -o merged.weft t.weft cut.weft
golden merge_import.txt import -o merged.weft t.weft worker-11.txt
golden help.txt --help
golden help_regtime.txt help regtime
golden error_command.txt functoins t.weft
golden error_option.txt regtime --presett fine t.weft
golden error_value.txt regtime --gap 5 t.weft
golden error_argument.txt info
golden error_missing.txt info nowhere.weft
golden error_folder.txt info .
golden error_not_weft.txt info worker-11.txt
golden error_tid.txt functions --tid 99 t.weft
golden error_pattern.txt functions --filter '/(/' t.weft
printf 'this is no trace' >"$work/noise"
golden error_import.txt import -o u.weft noise
golden error_cut.txt cut -o u.weft --from 2s t.weft
golden error_export.txt export t.weft
golden error_output.txt functions -o nowhere/f.txt t.weft
echo "1..$n"
