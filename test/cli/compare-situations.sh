# SPDX-License-Identifier: Apache-2.0
#
# Situations in which a comparison of two runs easily goes wrong.  Two runs without a fault do not
# deviate, and a single change by a fault is found with its kind, in its thread and at its line.
# The short form has a smaller version of the large program.
. "$ROOT/test/lib.sh"
source=$ROOT/test/prog/epa/situations.c
"$RADDLE" cc -g -O1 -pthread -o situations "$source" || exit 1

shown=(answer.json)

# table PROGRAM: writes its sites to sites.txt, and sets $slot to the slot of the first unit.
table() {
	local file
	file=$("$RADDLE" flavour --flavour full --quick --sites "$1") || exit 1
	{ zstd -dcq "$file" 2>/dev/null || cat "$file"; } >sites.txt
	slot=$(awk -F'\t' '$1 == "U" { print $2; exit }' sites.txt)
}

# line SITUATION: prints the line that the source marks with "here".
line() {
	grep -n "here: $1 \*/" "$source" | cut -d: -f1
}

# site KIND WHAT LINE: prints the number of the first such site.
site() {
	awk -F'\t' -v kind="$1" -v what="$2" -v line="$3" -v slot="$slot" \
		'$1 == "S" && $3 == kind && $10 == what && $7 == line { print slot * 65536 + $2; exit }' sites.txt
}

# record DIRECTORY COMMAND...: records the command, whatever its status is.
record() {
	local directory=$1
	shift
	rm -rf "$directory"
	("$RADDLE" record -v --flavour full --quick ${fault:+--fault "$fault"} -o "$directory" -- "$@" >out.txt 2>err.txt <"${input:-/dev/null}") 2>/dev/null
	[ -z "$fault" ] || grep -q 'changed 1 values' err.txt || complain "$*: the fault did not happen: $(cat err.txt)"
}

# same GOLDEN RUN NAME: expects no deviation.
same() {
	"$RADDLE" compare --json "$1" "$2" >answer.json 2>&1
	[ $? = 0 ] || complain "$3: two runs without a fault deviate"
}

# first: prints kind, thread and line of the first deviation.  If a thread took another branch, the
# line is that of the branch.
first() {
	python3 -c 'import json
d = json.load(open("answer.json"))["runs"][0]["first"]
at = d["behind"] if d["kind"] == "control" and d["behind"] else d
print(d["kind"], d["thread"], at["line"])' 2>/dev/null
}

# deviates GOLDEN RUN KIND THREAD LINE NAME: expects this first deviation.
deviates() {
	"$RADDLE" compare --json "$1" "$2" >answer.json 2>&1
	[ $? = 1 ] || { complain "$6: the fault is not seen"; return; }
	[ "$(first)" = "$3 $4 $5" ] || complain "$6: a deviation $(first), not $3 $4 $5"
}

# holds TEXT NAME: expects the Python expression TEXT about the result r to be true.
holds() {
	python3 -c 'import json, sys
r = json.load(open("answer.json"))["runs"][0]
nodes, edges, masked = r["nodes"], r["edges"], r["masked"]
sys.exit(not eval(sys.argv[1]))' "$1" || complain "$2: $1 does not hold"
}

# situation NAME KIND [THREAD [LINE-OF [SITE-KIND [WHAT [ACTION]]]]]: compares runs without and with
# a fault.
situation() {
	local name=$1 kind=$2 thread=${3:-T_0_1} at
	at=$(line "${4:-$name}")
	fault=
	record golden ./situations "$name"
	record run ./situations "$name"
	same golden run "$name"
	fault=$thread:$(site "${5:-i}" "${6:-icmp}" "${8:-$at}"):1:${7:-flip:1}
	record run ./situations "$name"
	deviates golden run "$kind" "$thread" "$at" "$name"
}

table ./situations
# Faults change the name of an object, its owner, a value, an address, a branch, and arguments of a
# library.
situation heap data T_0_1 heap i icmp flip:1 $(($(line heap) - 1))
situation stack data T_0_1 stack i icmp flip:1 $(($(line stack) - 1))
situation bytes data T_0_1 bytes i icmp flip:1 $(($(line bytes) - 1))
situation integer data T_0_1 integer i icmp flip:1 $(($(line integer) - 1))
# The end of the process cuts threads off, at any place.
fault=
for name in detached dying; do
	record golden ./situations "$name"
	for i in 1 2 3; do
		record run ./situations "$name"
		same golden run "$name"
	done
done
situation value data
# The fault is the root of the graph in every output format.
holds 'len(r["faults"]) == 1 and r["faults"][0]["nodes"] == [0] and r["faults"][0]["thread"] == "T_0_1"' value
holds '[r["faults"][0][k] for k in ("line", "what", "before", "after")] == [nodes[0]["line"], "icmp", 0, 1]' value
"$RADDLE" compare --html page.html golden run >answer.txt
grep -q '^  fault   T_0_1 at situations.c:.*: icmp 0x0 became 0x1$' answer.txt && grep -q '^      from the injected fault$' answer.txt || complain "value: the fault is not told: $(cat answer.txt)"
[ "$(grep -o k-fault page.html | wc -l)" -gt 2 ] || complain "value: the page has no fault"
holds '[(n["thread"], n["what"]) for n in nodes][-1] == ("T_0", "printf")' value
holds '[e["through"] for e in edges] == ["memory", "register", "memory", "register"]' value
holds '[e["threads"] for e in edges] == [False, False, True, False]' value
holds '[(m["node"], m["object"]) for m in masked] == [(0, "table[0]")]' value
situation address address
situation control control
situation arguments data
# Faults change what threads run, their arguments, which one is joined, and how many there are.  One
# thread cannot be created.
situation routine data
situation argument data
situation join data T_0_1 join i icmp flip:1 $(($(line join) - 1))
situation refused control T_0_1 refused k pthread_create call:11
situation extra control
grep -q '"T_0_1_0"' answer.json || complain "extra: nothing is said about the thread that is too many"
holds 'any(nodes[e["from"]]["thread"] == "T_0_1_0" and nodes[e["to"]]["thread"] == "T_0" for e in edges)' extra
situation missing control
grep -q '"T_0_1_0"' answer.json || complain "missing: nothing is said about the thread that is not there"
# Faults change the sizes of allocations, and what is freed.
situation sizes data
situation zeroed data
situation moved data
situation freed data T_0_1 freed i icmp flip:1 $(($(line freed) - 1))
# Faults that other tools ignore: in atomics, in arithmetic that reaches the output, and in a thread
# that accesses no memory.
situation atomics data
situation arithmetic data T_0_1 arithmetic i mul flip:8 $(($(line arithmetic) - 1))
situation alone data T_0_1_0 alone i mul flip:4 $(($(line alone) - 2))
# Faults change pointers that are data, and addresses of memory that was not allocated.
situation pointers data
situation unknown data
situation wide data
holds '[n["operation"] for n in nodes] == ["store", "range-read"]' wide
situation pages data
fault=
record run ./situations pages
[ "$(cat out.txt)" = "1 -4 -4" ] || complain "memcmp near the end of a page: $(cat out.txt)"
# Threads leave code by a crash, through handlers, by jumps, or because the process ends.
situation crash address
situation handler data
situation jump data
situation unbalanced control
situation killed data
situation masked data
holds "len(nodes) == 1 and r[\"corrupted\"] == 0 and [m[\"line\"] for m in masked] == [$(($(line masked) + 1))]" masked

# The runs get different input.
printf 'abcdefgh' >first.txt
printf 'abcXefgh' >second.txt
fault=
input=first.txt record golden ./situations input
input=first.txt record run ./situations input
same golden run input
input=second.txt record run ./situations input
deviates golden run data T_0_1 "$(line input)" input

# A trace is cut off at any place.  The rest is compared, and the missing part is reported.
record golden ./situations pointers
record run ./situations pointers
size=$(stat -c %s run/thread-2)
for cut in $((size / 4)) $((size / 2)) $((size - 30)) $((size - 1)); do
	rm -rf cut
	cp -r run cut
	for file in cut/thread-*; do
		[ "$(stat -c %s "$file")" -le "$cut" ] || truncate -s "$cut" "$file"
	done
	"$RADDLE" compare --json golden cut >answer.json 2>err.txt
	[ $? = 1 ] || complain "cut at $cut: not a deviation: $(cat err.txt)"
	case $(first) in missing*) ;; *) complain "cut at $cut: a deviation $(first)" ;; esac
done

# Only one of several threads is cut off.  It was joined, so its end is missing.
build_once quicksort cc -O1 -pthread "$ROOT/test/prog/epa/quicksort.c" -lm || exit 1
record golden ./quicksort 6000 1 3000
record run ./quicksort 6000 1 3000
same golden run quicksort
truncate -s $(($(stat -c %s run/thread-1) / 2)) run/thread-1
"$RADDLE" compare --json golden run >answer.json 2>err.txt
case $(first) in "missing T_0_"*) ;; *) complain "one thread is cut: a deviation $(first)" ;; esac

# In a program with many instructions, branches with large numbers are handled like others.
functions=300 level=-O0
[ -z "${RADDLE_LONG:-}" ] || functions=460 level=-O1
awk -v n=$functions 'BEGIN {
	print "#include <stdio.h>\nstatic volatile int zero;\nstatic int cell[64];"
	for (i = 0; i < n; i++) {
		printf "static __attribute__((noinline)) int f%d(int x)\n{\n\tcell[%d] += x;\n", i, i % 64
		printf "\tif ((x ^ %d) & 1)\n\t\tcell[%d]++;\n", i, (i * 7) % 64
		printf "\tfor (int i = 0; i < (x & 3); i++)\n\t\tcell[i] ^= cell[%d];\n", i % 64
		printf "\treturn cell[%d] + zero%s;\n}\n", (i + 1) % 64, i % 20 ? " + f" (i - 1) "(x + 1)" : ""
	}
	print "int main(void)\n{\n\tint sum = 0;"
	for (i = 19; i < n; i += 20)
		printf "\tsum += f%d(sum + %d);\n", i, i
	print "\tprintf(\"%d\\n\", sum);\n\treturn 0;\n}"
}' >large.c
"$RADDLE" cc -g $level -o large large.c || exit 1
table ./large
instructions=$(awk -F'\t' '$1 == "S"' sites.txt | wc -l)
[ "$instructions" -gt 18000 ] || complain "the large program has only $instructions places"
record golden ./large
record run ./large
same golden run large
at=$(grep -n "^static.* f$((functions - 13))(" large.c | cut -d: -f1)
fault=T_0:$(site i icmp $((at + 3))):1:flip:1
record run ./large
deviates golden run control T_0 $((at + 3)) large

# Process numbers differ in every run.  What a child does is compared with the same child.
cat >forks.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int result;
static struct { pid_t child; long parent; } known[2];
int main(void)
{
	for (int i = 0; i < 2; i++) {
		pid_t child = fork();
		int status;
		if (child == 0) {
			known[i].parent = getppid();
			result = i == 1 && getenv("OTHER") ? 9 : 4;
			_exit(4 + i);
		}
		known[i].child = child;
		if (waitpid(known[i].child, &status, 0) != child)
			return 1;
		result += WEXITSTATUS(status);
	}
	printf("%d\n", result);
	return 0;
}
END
"$RADDLE" cc -g -O0 -o forks forks.c || exit 1
fault=
record golden ./forks
record run ./forks
same golden run forks
[ "$(jq -r '.runs | map(.process + " " + (.deviated | tostring)) | join(",")' answer.json)" = "P_0 false,P_0_0 false,P_0_1 false" ] || complain "forks: not all processes were compared"
OTHER=1 record run ./forks
"$RADDLE" compare --json golden run >answer.json 2>&1
[ "$(jq -r '.runs | map(.process + " " + (.deviated | tostring)) | join(",")' answer.json 2>/dev/null)" = "P_0 false,P_0_0 false,P_0_1 true" ] || complain "forks: what another child did is not seen"

# C++: new and delete, exceptions, std::thread.
build_once words c++ -std=c++17 -O1 -pthread "$ROOT/test/prog/epa/words.cc" || exit 1
source=$ROOT/test/prog/epa/words.cc
fault=
record golden ./words 6 2
record run ./words 6 2
same golden run words

# An error in a header of a library is reported at the line of the program that called it.
cat >own.cc <<'END'
#include <vector>
int main()
{
	std::vector<int> all(4, 1);
	int sum = 0;
	for (int i = 0; i < 4; i++)
		sum += all[i]; /* here */
	return sum;
}
END
"$RADDLE" c++ -g -O0 -o own own.cc || exit 1
fault=
record golden ./own
table ./own
fault=T_0:$(awk -F'\t' -v slot="$slot" '$1 == "S" && $3 == "r" && $9 ~ /operator\[\]/ && $10 ~ /_M_start/ { print slot * 65536 + $2; exit }' sites.txt):2:flip:4
record run ./own
"$RADDLE" compare --json golden run >answer.json
holds '"stl_vector" in r["first"]["file"] and r["first"]["own"]["file"].endswith("own.cc") and r["first"]["own"]["line"] == 7' own
"$RADDLE" compare --first golden run | grep -q 'deviation in T_0, .* at own.cc:7:.* main, in stl_vector.h' || complain "own: $("$RADDLE" compare --first golden run)"
verdict
