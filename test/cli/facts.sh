#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Facts of whole programs are made through the cache and shown, with the recorder's sites and the
# calls in the source.  After an intended change of the output, RADDLE_UPDATE=1 rewrites the golden
# file.  The short form compares the sites of fewer programs.
# sanitizers: yes, runs facts/ and what raddle-instr does for it
. "$ROOT/test/lib.sh"

export RADDLE_CACHE=$PWD/cache

# Golden facts of version 1 are shown as before.
golden=$ROOT/test/golden/facts-v1
"$RADDLE" dump "$golden" >got || complain "the golden facts cannot be read"
"$RADDLE" dump --json "$golden" >got.json || complain "the golden facts have no JSON"
[ -n "${RADDLE_UPDATE:-}" ] && cp got "$golden.txt" && cp got.json "$golden.json"
diff -u "$golden.txt" got || complain "the golden facts are shown differently"
cmp got.json "$golden.json" || complain "the JSON of the golden facts differs"

# Facts are made once, and are found by content for a program with another name.
"$RADDLE" cc -O2 -pthread "$ROOT/test/prog/facts/list.c" -o list || exit 1
path=$("$RADDLE" facts ./list) || complain "no facts"
cmp -s "$path" <("$RADDLE" facts -o copy ./list && cat copy) || complain "facts are not the same twice"
[ "$("$RADDLE" facts ./list)" = "$path" ] || complain "facts are not found in the cache"
cp list elsewhere && mkdir other && mv elsewhere other/list
[ "$("$RADDLE" facts other/list)" = "$path" ] || complain "a copy of the program has facts of its own"

# Each error has a message.
head -c 500 "$path" >cut
"$RADDLE" dump cut 2>message && complain "half a file is shown"
grep -q 'cut: damaged' message || complain "half a file: $(cat message)"
"$RADDLE" facts /bin/true 2>message && complain "facts of a program without bitcode"
grep -q 'carries no bitcode' message || complain "no bitcode: $(cat message)"

# Accesses and calls have the sites that the recorder gives them: the same kind at the same place.
cat >agree.py <<'P'
import json, re, sys
facts, table = json.load(open(sys.argv[1])), open(sys.argv[2], errors='replace')
# The descriptor that a function uses has a site, named after the function.  It has no memory, so it
# has no fact.
descriptors = set(re.findall(r'LIBC_RANGE\("(\w+)", [^,]*, \w+, (?:DESCRIPTOR|OPENED),', open(sys.argv[3]).read()))
slot, files, sites = 0, {}, {}
for line in table:
    r = line.rstrip('\n').split('\t')
    if r[0] == 'U':
        slot, files = int(r[1]), {}
    elif r[0] == 'F':
        files[int(r[1])] = r[2]
    elif r[0] == 'S' and not (r[2] in ('rr', 'rw') and r[9] in descriptors and r[10] == '-'):
        sites[(slot << 16) + int(r[1])] = (r[2], files.get(int(r[5]), ''), int(r[6]), int(r[7]))
kinds = {0: ('r', 'rr', 'al'), 1: ('w', 'rw', 'as'), 2: ('ax', 'ac')}
seen = set()
def check(site, value, allowed):
    if site == 0:
        return
    seen.add(site)
    kind, file, line, column = sites[site]
    if kind not in allowed or (file, line, column) != (value['file'], value['line'], value['column']):
        sys.exit(f"site {site} is {sites[site]}, not {allowed} {value}")
for a in facts['accesses']:
    check(a['site'], facts['values'][a['value']], kinds[a['kind']])
for v in facts['values']:
    check(v['site'], v, ('c', 'f'))
lost = [s for s in sites if s not in seen]
# A function that two units define has sites in both, but facts in only one.
if len(lost) > len(sites) // 50 + 2:
    sys.exit(f"{len(lost)} of {len(sites)} sites are in no fact: {sites[lost[0]]}")
if not seen:
    sys.exit('no sites')
P
agrees() { # program
	local facts
	facts=$("$RADDLE" facts "$1") || { complain "$1: no facts"; return; }
	"$RADDLE" dump --json "$facts" >facts.json || complain "$1: no JSON"
	python3 agree.py facts.json "$("$RADDLE" flavour --quick --sites "$1")" \
		"$ROOT/src/contract/raddle/libc.inc" || complain "$1: sites disagree"
}
agrees ./list
programs="prim-atomic prim-channel prim-memory prim-thread instr-torture"
[ -z "${RADDLE_LONG:-}" ] || programs="$(cd "$ROOT/test/prog" && basename -s .c prim-*.c) instr-torture"
for name in $programs; do
	source=$ROOT/test/prog/$name.c
	"$RADDLE" cc -w -O2 -D_GNU_SOURCE -pthread "$source" -o "$name" -lm -latomic || complain "$name: not built"
	agrees "./$name"
done

# Several units and a shared library are one program.  Static functions of the same name are
# distinguished.
cat >lib.c <<'C'
int shared;
static int helper(void) { return ++shared; }
int from_library(void) { return helper(); }
C
cat >one.c <<'C'
int from_library(void), from_two(void);
static int helper(void) { return from_two(); }
int main(void) { return helper() + from_library(); }
C
cat >two.c <<'C'
int from_library(void);
static int helper(void) { return from_library(); }
int from_two(void) { return helper(); }
C
"$RADDLE" cc -fPIC -shared lib.c -o libx.so && "$RADDLE" cc one.c two.c -L. -lx -Wl,-rpath,"$PWD" -o parts || exit 1
agrees ./parts
show() { # calls or points, program
	"$RADDLE" dump --json "$("$RADDLE" facts "$2")" | python3 "$ROOT/test/prog/facts/show.py" "$1"
}
diff - <(show calls ./parts) <<'X' || complain "parts: other calls"
from_library call helper
from_two call helper
helper call from_library
helper call from_two
main call from_library
main call helper
X

# Which functions may be called, and what may be accessed.
"$RADDLE" cc -O1 -pthread "$ROOT/test/prog/facts/points.c" -o points || exit 1
diff "$ROOT/test/prog/facts/points.calls" <(show calls ./points) || complain "points: other calls"
diff "$ROOT/test/prog/facts/points.expected" <(show points ./points) || complain "points: other sets"

# If the analysis takes too much work, a cheaper one is used and reported.  It finds the same
# objects, but not their fields.
clang-19 -O1 -g -Xclang -disable-llvm-passes -emit-llvm -c "$ROOT/test/prog/facts/points.c" -o points.bc
printf '%s\t0\t0\t1\t-\t-\t-\n' "$PWD/points.bc" >jobs
"$BUILD/raddle-instr" --facts cheap --program points --budget 1 jobs || complain "no cheap facts"
"$RADDLE" dump cheap | grep '^points-to: unification' >/dev/null || complain "cheap facts do not say so"
"$RADDLE" dump --json cheap | python3 "$ROOT/test/prog/facts/show.py" calls >calls
diff "$ROOT/test/prog/facts/points.calls" calls | grep '^<' && complain "cheap facts miss calls"
"$RADDLE" dump --json cheap | python3 "$ROOT/test/prog/facts/show.py" points |
	grep '^main write \*result: .*e+?' >/dev/null || complain "cheap facts miss the result of a thread"

# A library function that Raddle does not know is named.  Functions that are passed to it count as
# called.
cat >unknown.c <<'C'
void strange_register(void (*)(int *), int *);
static int datum;
static void called(int *p) { *p = 1; }
int main(void) { strange_register(called, &datum); return datum; }
C
echo 'void strange_register(void (*f)(int *), int *p) { f(p); }' >strange.c
gcc -c strange.c && "$RADDLE" cc unknown.c strange.o -o unknown || exit 1
show calls ./unknown | grep -x 'main later called' >/dev/null || complain "unknown: the callback is not called"
show points ./unknown | grep -x 'called write [*]p: datum' >/dev/null || complain "unknown: the callback has no data"
"$RADDLE" dump "$("$RADDLE" facts ./unknown)" | grep 'note: .*strange_register (1)' >/dev/null || complain "unknown: no note"

# If a run accessed the same memory at two places, the sets of the two overlap.
holds() { # program, arguments
	rm -rf trace
	"$RADDLE" record --quick -o trace -- "$@" >/dev/null </dev/null || complain "$1: not recorded"
	"$RADDLE" dump --json trace >trace.json
	"$RADDLE" dump --json "$("$RADDLE" facts "$1")" >facts.json
	python3 "$ROOT/test/prog/facts/oracle.py" facts.json trace.json >said || complain "$1: $(cat said)"
}
holds ./list
holds ./points
for name in quicksort handover kmeans mixed; do
	build_once $name cc -O1 -pthread "$ROOT/test/prog/epa/$name.c" -lm || complain "$name: not built"
	holds ./$name
done
verdict
