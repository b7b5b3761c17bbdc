#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The tester tested: check-static finds the one function that only its own file uses.
set -u
tree=$(mktemp -d) || exit 1
trap 'rm -r "$tree"' EXIT
mkdir "$tree/src"
cat >"$tree/src/one.h" <<'END'
int alone(int a);
int called(int a);
int of_inline(int a);
static inline int more(int a)
{
    return of_inline(a);
}
END
cat >"$tree/src/one.c" <<'END'
static int own(int a)
{
    return a;
}

int alone(int a)
{
    return own(a);
}

int called(int a)
{
    return alone(a);
}

int of_inline(int a)
{
    return a;
}
END
cat >"$tree/src/two.c" <<'END'
/* alone() is named here, but not used. */
int main(void)
{
    return called(1);
}
END
. tests/house/found.sh
found=$(tools/check-static "$tree")
ok "a bad tree fails" [ $? -ne 0 ]
ok "a function that only its own file uses is found" has 'one.c: alone is used in no other file'
ok "those that a file or an inline function calls are allowed" has '4 functions.*, 1 of them'
sed -i 's/^int alone/static int alone/' "$tree/src/one.c"
found=$(tools/check-static "$tree")
ok "a good tree passes" [ $? -eq 0 ]
echo "1..$n"
