#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What every command has in common: help, exit status, where output goes, options. usage: ... WEFT
set -u
weft=$1
work=$(mktemp -d "$WEFT_BUILD_ROOT/cli.XXXXXX")
trap 'rm -rf "$work"' EXIT
n=0

ok() { # ok NAME COMMAND...
    n=$((n + 1))
    name=$1
    shift
    if "$@"; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        head -3 "$work/out" "$work/err" | sed 's/^/# /'
    fi
}
run() { # run ARGUMENTS...: status, stdout and stderr are kept
    "$weft" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
}
status_is() { [ "$status" -eq "$1" ]; }
says() { grep -q -- "$1" "$work/out"; }
complains() { grep -q -- "$1" "$work/err"; }
is_silent() { [ ! -s "$work/$1" ]; }
is_json() { python3 -c 'import json, sys; json.load(sys.stdin)' <"$work/out"; }
same() { cmp -s "$1" "$2"; }

# A trace of two calls: outer [0, 1000), inner [100, 300).
printf '0 outer 0\n0 inner 100\n1 inner 300\n1 outer 1000\n' >"$work/small.txt"
run import -o "$work/small.weft" "$work/small.txt"
ok "a trace imports" status_is 0
trace=$work/small.weft

run
ok "no command is a usage error" status_is 2
run --help
ok "--help succeeds" status_is 0
ok "and goes to standard output" says import
ok "and not to standard error" is_silent err
run --version
ok "--version names the version" says 0.1
run nonsense
ok "an unknown command is a usage error" status_is 2
ok "which is said on standard error" complains nonsense
ok "and nothing on standard output" is_silent out

# The same without its end.
size=$(stat -c %s "$work/small.weft")
head -c $((size - 40)) "$work/small.weft" >"$work/early.weft"
run info "$work/early.weft"
ok "info says that a trace ends early" says 'bytes not read: the input ends early'
for command in functions interval outliers regtime shapes; do
    run "$command" "$work/early.weft"
    ok "$command reads a trace that ends early" status_is 0
    ok "$command says so" complains 'early.weft: the file ends early'
done
run shapes -q "$work/early.weft"
ok "but not when it shall be quiet" is_silent err

for command in completion cpu cut export functions import info interval locks merge outliers path regtime \
    report shapes states waits; do
    run "$command" --help
    ok "$command --help succeeds" status_is 0
    ok "$command --help is on standard output" says "weft $command"
    run "$command" --no-such-option
    ok "$command: an unknown option is a usage error" status_is 2
    ok "$command: which is named" complains no-such-option
done
for command in cpu cut export functions import info interval locks merge outliers path regtime report shapes \
    states waits; do
    run "$command"
    ok "$command without a file is a usage error" status_is 2
    ok "$command has a manual page" [ -f "man/weft-$command.1.scd" ]
done

for command in cpu functions info interval locks outliers regtime shapes states waits; do
    run "$command" "$trace"
    ok "$command succeeds" status_is 0
    ok "$command is silent on standard error" is_silent err
    ok "$command writes no colour into a pipe" sh -c "! grep -q '$(printf '\033')' '$work/out'"
    run "$command" --json "$trace"
    ok "$command --json is JSON" is_json
    cp "$work/out" "$work/long"
    run "$command" --format json "$trace"
    ok "$command --format json is the same" same "$work/out" "$work/long"
    run "$command" --format csv "$trace"
    ok "$command --format csv has a header" sh -c "head -1 '$work/out' | grep -q ,"
    run "$command" --json -o "$work/written" "$trace"
    ok "$command -o writes the same to a file" same "$work/written" "$work/long"
    run "$command" --json -j 4 "$trace"
    ok "$command -j 4 gives the same" same "$work/out" "$work/long"
done

# A reader that goes away: the program ends by SIGPIPE, as others do, and says nothing.
left_alone() { # left_alone ARGUMENTS...
    python3 -c '
import os, subprocess, sys
read, write = os.pipe()
os.close(read)
got = subprocess.run(sys.argv[1:], stdout=write, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
sys.exit(got.returncode != -13 or got.stderr != b"")' "$weft" "$@"
}
for command in cpu functions info interval locks outliers regtime shapes states waits; do
    ok "$command ends quietly when nobody reads" left_alone "$command" "$trace"
done
ok "export, too" left_alone export --format csv "$trace"
ok "--help, too" left_alone --help

printf '1,2,f\n' >"$work/plain.csv"
run import -o "$work/plain.weft" "$work/plain.csv"
ok "a table without column names is unknown" status_is 1
run import --columns start_us,dur_us,name -o "$work/plain.weft" "$work/plain.csv"
ok "--columns names them" status_is 0
run import --columns start_us,dur_us,colour -o "$work/plain.weft" "$work/plain.csv"
ok "--columns refuses names that mean nothing" complains '"colour"'
printf '[{"ph":"X","name":"f","ts":1,"dur":2,"pid":1,"tid":1}' >"$work/cut.json"
run import -o "$work/cut.weft" "$work/cut.json"
ok "a JSON trace without its end imports" status_is 0

for shell in bash zsh; do
    run completion "$shell"
    ok "completion for $shell succeeds" status_is 0
    ok "completion for $shell knows the commands" says regtime
done
# README names the commands that have no --json.
without=$(tr '\n' ' ' <"$WEFT_SOURCE_ROOT/README.md" | sed 's/.*those that print results (all but \([^)]*\)).*/\1/')
is_as_said() { # is_as_said COMMAND
    case $without in
    *"\`$1\`"*) ! says '--json' ;;
    *) says '--json' ;;
    esac
}
run --help
for command in $(awk '/^  [a-z]/ { print $1 }' "$work/out" | grep -v '^weft$'); do
    run "$command" --help
    ok "README is right about --json of $command" is_as_said "$command"
done
run completion bash
ok "completion for bash is a bash script" bash -n "$work/out"
echo "1..$n"
