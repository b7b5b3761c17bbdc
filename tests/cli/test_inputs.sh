#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Inputs of every form give the same trace, and nothing is left behind; several become one; a part
# can be cut out. usage: ... WEFT
set -u
weft=$1
case $weft in /*) ;; *) weft=$PWD/$weft ;; esac
corpus=$PWD/tests/fuzz/corpus/fuzz_xray
work=$(mktemp -d "$WEFT_BUILD_ROOT/inputs.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n=0

ok() { # ok NAME COMMAND...
    n=$((n + 1))
    name=$1
    shift
    if "$@"; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        head -3 out err 2>/dev/null | sed 's/^/# /'
    fi
}
run() { # run ARGUMENTS...: status, stdout and stderr are kept
    "$weft" "$@" >out 2>err
    status=$?
}
imports() { run import -q -o "$@" && [ $status -eq 0 ]; }
says() { grep -q -- "$1" out; }
complains() { grep -q -- "$1" err; }
# What a trace holds, without the names and sizes of files.
holds() { # holds TRACE
    "$weft" info --json --threads "$1" | sed -e 's/"source":"[^"]*"//' -e 's/"details":"[^"]*"//' -e 's/"bytes_[a-z]*":[0-9]*//g' \
        -e 's/"bytes_per_call":[0-9.e+-]*//' -e 's/"detail":"[^"]*"//'
    for command in functions regtime outliers; do "$weft" $command --format csv "$1"; done
}
same_trace() {
    holds "$1" >a && holds "$2" >b && cmp -s a b
}
is_alone() { # is_alone NAME...: nothing but these and our own files lies here
    for file in * .[!.]*; do
        case " out err a b $* " in *" $file "*) ;; *) [ -e "$file" ] && echo "# left: $file" && return 1 ;; esac
    done
    return 0
}

mkdir plain fifo
cp "$corpus/fdr_v5" plain/log.fdr
{ for i in $(seq 4000); do echo "0 outer $((i * 1000))"; echo "0 inner $((i * 1000 + 10))"; echo "1 inner $((i * 1000 + 600))"; echo "1 outer $((i * 1000 + 900))"; done; } >plain/work-7.txt
gzip -nc plain/log.fdr >plain/log.fdr.gz
zstd -qc plain/log.fdr >plain/log.fdr.zst
zstd -qc plain/work-7.txt >plain/work-7.txt.zst

# ---- forms of an input
ok "a plain log" imports want.weft plain/log.fdr
mkfifo fifo/log.fdr
cat plain/log.fdr >fifo/log.fdr &
ok "a named pipe" imports fifo.weft fifo/log.fdr
ok "gives the same bytes" cmp want.weft fifo.weft
for form in gz zst; do
    ok "a log in $form" imports packed.weft plain/log.fdr.$form
    ok "gives the same trace" same_trace want.weft packed.weft
done
zstd -dc plain/log.fdr.zst | "$weft" import -q -o stdin.weft - 2>err
ok "standard input gives the same trace" same_trace want.weft stdin.weft
"$weft" import -q -o stdin.weft - <plain/log.fdr.gz 2>err
ok "compressed too" same_trace want.weft stdin.weft
"$weft" import -q - <plain/log.fdr.gz 2>err
ok "and is named stdin.weft" same_trace want.weft stdin.weft
"$weft" import -q plain/log.fdr.zst 2>err
ok "a compressed log is named by what it holds" same_trace want.weft log.weft
ok "a compressed text trace" imports text.weft plain/work-7.txt.zst
run info --format csv --threads text.weft
ok "its thread is named without .zst" says 'work-7,'
run import -q -o no.weft - </dev/null
ok "an empty standard input is an error" complains 'empty'
run import -q -o no.weft nowhere.fdr
ok "a missing input is an error" complains 'nowhere.fdr: cannot open'
run import -q -o no.weft plain
ok "a folder of no trace is an error" complains 'found one of other files'
rm -f want2.weft fifo.weft packed.weft stdin.weft log.weft

# ---- damage and interruptions
head -c 6000 plain/work-7.txt.zst >cut.zst
ok "a cut compressed trace" imports cut.weft cut.zst
run info cut.weft
ok "says what was lost" says 'without their end'
head -c 40 plain/work-7.txt.zst >cut.zst
run import -q -o no.weft cut.zst
ok "of which nothing comes out is an error" complains 'cut.zst: byte 0x28: expected zstd data'
rm -f cut.zst cut.weft
seq -f '0 f %.0f' 2000000 | zstd -qc >big.zst
(trap '' XFSZ; ulimit -f 1024; "$weft" import -q -o big.weft big.zst >out 2>err)
ok "a full disk is an error" complains 'cannot write'
ok "and leaves nothing" is_alone want.weft text.weft plain fifo big.zst
rm big.zst
{ echo '0 f 1'; sleep 30; } >fifo/log.fdr &
writer=$!
"$weft" import -q -o late.weft fifo/log.fdr >out 2>err &
sleep 1
kill -TERM $!
wait $!
ok "a signal interrupts a pipe that gives nothing" [ $? -eq 143 ]
ok "and leaves nothing" is_alone want.weft text.weft plain fifo
kill $writer 2>/dev/null

# ---- traces as inputs
ok "a .weft file" imports again.weft want.weft
ok "gives the same trace" same_trace want.weft again.weft
zstd -qc want.weft >want.weft.zst
ok "a compressed .weft file" imports again.weft want.weft.zst
ok "gives the same trace" same_trace want.weft again.weft
head -c $(($(wc -c <text.weft) - 60)) text.weft >broken.weft
ok "a .weft file without its end" imports whole.weft broken.weft
run info whole.weft
ok "becomes whole, and says what it lost" says 'the .weft file is damaged'
rm broken.weft whole.weft
run import -q -o want.weft want.weft
ok "the output is not the input" complains 'another file'

# ---- several
ok "inputs of two formats" imports both.weft plain/log.fdr plain/work-7.txt.zst
run info --json both.weft
ok "become one trace" says '"format":"merge"'
ok "which says that their clocks differ" says not_aligned
run merge -q -o merged.weft want.weft text.weft
ok "two traces merge" same_trace both.weft merged.weft
run merge -q -o merged4.weft -j 4 want.weft text.weft
ok "with any number of workers the bytes are the same" cmp merged.weft merged4.weft
run merge -o merged.weft want.weft
ok "one trace cannot be merged" [ $status -eq 2 ]
run merge want.weft text.weft
ok "merge wants -o" complains 'expected -o FILE'
run merge -q -o merged.weft want.weft plain/log.fdr
ok "merge wants .weft files" complains 'log.fdr: expected a .weft file, found a trace of another format (XRay log)'

# ---- cuts
run cut -q -o cut.weft text.weft
ok "a cut of everything" [ $status -eq 0 ]
ok "is the same trace" same_trace text.weft cut.weft
run cut -o cut.weft --from 1ms --to 2ms text.weft
ok "a cut prints what it made" says '2,000'
ok "and of what it is a part" says '1000000 ns to 2000000 ns of text.weft'
run cut -q -o cut2.weft --from @1501005 --to @1501008 cut.weft
ok "a cut by the source's clock" [ $status -eq 0 ]
run functions --format csv cut2.weft
ok "holds what was open" says 'outer'
run cut -q -o no.weft --from 5ms text.weft
ok "a time after the end is an error" complains 'within the trace'
run cut -q -o no.weft --from 2ms --to 1ms text.weft
ok "an end before the begin is an error" complains 'a begin before the end'
run cut -q -o no.weft --from 2 text.weft
ok "a time without a unit is wrong usage" [ $status -eq 2 ]
run cut -q -o no.weft --tid 99 text.weft
ok "an unknown tid is an error" complains 'found 99'
run cut text.weft
ok "cut wants -o" complains 'expected -o FILE'
run cut -q -o text.weft text.weft
ok "the output of a cut is not its input" complains 'another file'
rm -f want.weft.zst again.weft both.weft merged.weft merged4.weft cut.weft cut2.weft
ok "nothing else was left" is_alone want.weft text.weft plain fifo
echo "1..$n"
