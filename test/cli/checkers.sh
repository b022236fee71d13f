# Tests of the tools that check the tree: check-layers tests itself, check-style finds every kind of
# violation, and install-packages does not start apt if everything is installed.
. "$ROOT/test/lib.sh"

"$ROOT/tool/check-layers" --self-test || fail "check-layers --self-test"

mkdir -p tree/tool tree/src/base tree/src/contract/raddle
cp "$ROOT/tool/"{check-style,check-functions,houselib.py} tree/tool/
cp "$ROOT/src/contract/raddle/event.inc" tree/src/contract/raddle/
{
	printf '// SPDX-License-Identifier: Apache-2.0\n/* Good. */\nstatic const char *const words[] = {"a"};\n'
	printf 'static const struct {\n\tint a;\n} table[] = {{1}};\n'
	printf 'int good(int a, int b, int c, int d, int e, int f)\n{\n\treturn 0;\n}\n'
} >tree/src/base/good.c
{
	printf '// SPDX-License-Identifier: Apache-2.0\n/* Constants. */\n#include <a.h>\n\n#define A 1 /* byte */\n'
	printf '\n/* Bytes. */\n#define B (1u << 2)\n#define C 2\n\n#define NS_PER_S 1000\n#define D(x) 1\n#define E \\\n\t4 /* ms */\n'
	printf '\n/* Runs. */\nenum { F = 3 };\n\nenum named {\n\tG = 1,\n};\n\nenum {\n\tH = 4, /* ms */\n};\n'
} >tree/src/base/explained.c
printf '// SPDX-License-Identifier: Apache-2.0\n/* Uses it. */\nint main(void)\n{\n\treturn good(1);\n}\n' >tree/src/base/user.c
tree/tool/check-style >out || fail "a good file is blamed: $(cat out)"
{
	printf 'int bad(void)\n{\n'
	for _ in $(seq 130); do echo "	bad();"; done
	printf '\treturn 0; // TO%s\n}\n' DO
} >tree/src/base/bad.c
{
	printf '/* SPDX-License-Identifier: Apache-2.0 */\n/* Long. */\n'
	seq -f 'int i%g;' 310
} >tree/src/base/long.h
{
	printf '// SPDX-License-Identifier: Apache-2.0\n/* Lists. */\n'
	printf '\tcase RADDLE_MUTEX_LOCK:\n\tcase RADDLE_SPIN_LOCK:\n\tbreak;\n\tcase RADDLE_SPIN_UNLOCK:\n'
	printf '\tk == RADDLE_EXIT || k == RADDLE_EXEC\n\tk >= RADDLE_EXIT\n\tk == RADDLE_EXIT || k == MINE\n'
} >tree/src/base/lists.c
{
	printf '// SPDX-License-Identifier: Apache-2.0\n/* Functions. */\nstatic int counter;\nstatic const char *text;\n'
	printf 'static int wide(int a, int b, int (*c)(int, int), int d, int e, int f, int g)\n{\n\tstatic int calls;\n\treturn ++calls;\n}\n'
	printf 'static int winding(int a)\n{\n\t/* if if if */\n\tif (a) return "if && if"[0];\n'
	for _ in $(seq 12); do printf '\tif (a && a < 2) return 1;\n'; done
	printf '\treturn 0;\n}\nint alone(void)\n{\n\treturn 0;\n}\nint inside(void)\n{\n\treturn inside();\n}\n'
} >tree/src/base/functions.c
printf '/* SPDX-License-Identifier: Apache-2.0 */\n/* Declares. */\nint alone(void);\nint inside(void);\n' >tree/src/base/functions.h
printf 'int x;\n' >tree/src/contract/raddle/x.h
# Which files call a function is read from the objects.
mkdir -p tree/build/obj/base tree/build/obj/test
printf '// SPDX-License-Identifier: Apache-2.0\n/* Calls. */\nint tried(void)\n{\n\treturn 0;\n}\n' >tree/src/base/tried.c
printf 'int tried(void);\nint main(void)\n{\n\treturn tried();\n}\n' >tree/test.c
{
	printf '// SPDX-License-Identifier: Apache-2.0\n/* Constants. */\n\n#define A 1\n\n/* Above a gap. */\n\n#define B (1u << 2)\n'
	printf '\nenum { F = 3 };\n\nenum {\n\tH = 4,\n};\n\n#define E \\\n\t4\n'
} >tree/src/base/bare.c
cc -w -c -o tree/build/obj/base/functions.o tree/src/base/functions.c
cc -c -o tree/build/obj/base/tried.o tree/src/base/tried.c
cc -c -o tree/build/obj/test/tried.o tree/test.c
tree/tool/check-style >out && fail "a bad file is not blamed"
[ "$(grep -c 'lists.c.*listed by hand' out)" = 3 ] || fail "check-style does not see the lists: $(cat out)"
for expect in 'counter can change' 'text can change' 'calls can change' 'wide() has 7 parameters' 'winding() has a complexity of 26' \
	'alone() is used nowhere' 'inside() is used in this file only' 'tried() is called by tests only' 'src/contract/raddle/x.h:1: no SPDX line' 'bad() has 13' 'bad.c:1: no SPDX line' 'bad.c: no opening comment' 'bad.c:133: TODO, FIXME or XXX' \
	'long.h: 312 lines' 'lists.c:4: events' 'lists.c:7: events' 'lists.c:8: events'; do
	grep -qF "$expect" out || fail "check-style does not say '$expect': $(cat out)"
done

for expect in '4: A' '8: B' '10: F' '13: H' '16: E'; do
	grep -qF "bare.c:$expect has no comment" out || fail "check-style does not see the constant $expect: $(cat out)"
done
grep -q 'base/explained.c' out && fail "explained.c is blamed: $(cat out)"
grep -q 'base/good.c' out && fail "good.c is blamed: $(cat out)"

# Pages may mention only files, functions and options that exist.
mkdir -p docs/tool docs/src/base docs/doc/man docs/test/unit
cp "$ROOT/tool/"{check-docs,houselib.py} docs/tool/
git -C docs init -q
echo 'int rd_there(void);' >docs/src/base/there.h
echo '.It Fl -json' >docs/doc/man/raddle-dump.1
touch docs/test/unit/u-there.c
echo 'check:' >docs/Makefile
cat >docs/README.md <<'PAGE'
[a link](src/base/there.h), `base/there.h`, `base/*.h`, `there.h`, `rd_there()`, `rd_there`, `u-there`, `u-*`, `make check`,
`raddle dump --json`, `doc/man/raddle-NAME.1`, `meta.json`, `T_0_1`
    $ raddle dump --json trace
PAGE
docs/tool/check-docs >out || fail "a good page is blamed: $(cat out)"
cat >docs/README.md <<'PAGE'
[a link](src/base/gone.h)
`base/gone.c`
`gone.h`
`rd_gone()`
`rd_gone`
`u-gone`
`make gone`
`raddle dump --gone`
    $ raddle gone
`base/gone*`
`u-gone-*`
PAGE
docs/tool/check-docs >out && fail "a stale page is not blamed"
for line in $(seq 11); do
	grep -q "^README.md:$line: .*gone" out || fail "check-docs does not see line $line: $(cat out)"
done
touch docs/src/base/gone.c docs/test/elsewhere.c
echo '`elsewhere.c`, gone' >docs/src/base/README.md
docs/tool/check-docs >out && fail "a stale page is not blamed"
grep -q '^src/base/README.md:1: ' out || fail "a file of another room passes: $(cat out)"
rm docs/src/base/gone.c
mkdir -p docs/src/data/trace
printf '#include "base/there.h"\n' >docs/src/data/trace/there.c
touch docs/src/base/there.c
echo 'Uses `base/`.' >docs/src/data/trace/README.md
echo 'Uses libc.' >docs/src/base/README.md
rm docs/README.md
docs/tool/check-docs >out || fail "rooms that are used are blamed: $(cat out)"
echo 'Uses `base/`, `trace/`.' >docs/src/base/README.md
echo 'Uses libc.' >docs/src/data/trace/README.md
docs/tool/check-docs >out && fail "wrong rooms are not blamed"
[ "$(wc -l <out)" = 3 ] || fail "not each wrong room is blamed: $(cat out)"
rm docs/src/base/README.md docs/src/data/trace/README.md
printf '/* See base/there.h,\n * base/*.h and trace/NAME.c. */\n' >docs/src/base/there.c
docs/tool/check-docs >out || fail "a comment that is right is blamed: $(cat out)"
printf '/* See base/there.h\n * and base/gone.h. */\n' >docs/src/base/there.c
docs/tool/check-docs >out && fail "a stale comment is not blamed"
grep -qx 'src/base/there.c:2: no file base/gone.h' out || fail "check-docs does not see a stale comment: $(cat out)"

# This dpkg reports every package as installed, and this apt-get must not be called.
mkdir bin
printf '#!/bin/sh\necho installed\n' >bin/dpkg-query
printf '#!/bin/sh\necho called >&2\nexit 1\n' >bin/apt-get
chmod +x bin/*
printf 'one # why\n# nothing\ntwo\n' >list
PATH=$PWD/bin:$PATH "$ROOT/tool/install-packages" list >out 2>&1 || fail "install-packages failed"
[ ! -s out ] || fail "install-packages is not quiet: $(cat out)"
printf '#!/bin/sh\n[ "$3" = two ] && exit 1\necho installed\n' >bin/dpkg-query
PATH=$PWD/bin:$PATH "$ROOT/tool/install-packages" list >out 2>&1 && fail "a failing apt-get gave success"
grep -q 'could not install: two' out || fail "the missing package is not named: $(cat out)"
printf 'one\n# to test\ntwo\n' >list
PATH=$PWD/bin:$PATH "$ROOT/tool/install-packages" --to-build list >out 2>&1 || fail "--to-build installs more: $(cat out)"
