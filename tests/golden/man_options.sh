#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The option list of every man page is the one that the program itself prints, and every command
# has a page; what is written from descriptors is current. usage: man_options.sh WEFT
set -u
weft=$1
man=${WEFT_SOURCE_ROOT:-.}/man
n=0

check() { # check STATUS TEXT
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

# The lines of a page between "# OPTIONS" and the next head, without the blank lines around.
options_of() {
    awk '/^# /{on = $0 == "# OPTIONS"; next} on' "$1" | sed -e '/./,$!d'
}

commands=$("$weft" --help | awk '/^commands:/{on = 1; next} /^$/{on = 0} on {print $1}')
for command in $commands; do
    page=$man/weft-$command.1.scd
    want=$("$weft" completion man "$command")
    [ -f "$page" ] && [ "$(options_of "$page")" = "$want" ]
    check $? "options of weft-$command(1)"
    grep -q "^\*weft-$command\*(1)$" "$man/weft.1.scd"
    check $? "weft(1) names weft-$command(1)"
done
for page in "$man"/weft-*.1.scd; do
    command=${page##*/weft-}
    "$weft" completion man "${command%.1.scd}" >/dev/null 2>&1
    check $? "${page##*/} is the page of a command"
done
# What is written from descriptors of tables is committed, and current.
for page in "$man"/weft-*.1.scd; do
    command=${page##*/weft-}
    command=${command%.1.scd}
    if written=$("$weft" completion page "$command" 2>/dev/null); then
        [ "$written" = "$(cat "$page")" ]
        check $? "${page##*/} is what 'weft completion page $command' prints"
    fi
done
"$weft" completion types | cmp -s - "${WEFT_SOURCE_ROOT:-.}/ui/src/gen/tables.ts"
check $? "ui/src/gen/tables.ts is what 'weft completion types' prints"
"$weft" completion bash | bash -n
check $? "bash reads the completion"
echo "1..$n"
