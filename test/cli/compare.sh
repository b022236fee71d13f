# raddle compare and raddle sanitize.  Runs of a pseudo-deterministic program show no deviation,
# whatever their schedules and addresses.  A fault shows one, with its place and how it spread.
# sanitizers: yes, runs epa/
. "$ROOT/test/lib.sh"

# record NAME [OPTIONS]: records one run.
record() {
	local trace=$1
	shift
	rm -rf "$trace"
	# shellcheck disable=SC2086
	"$RADDLE" record --flavour full "$@" -o "$trace" -- "./$prog" $arguments >out.txt 2>err.txt
}

build() {
	prog=$1
	build_once "$prog" cc -O1 -pthread "$ROOT/test/prog/epa/$prog.c" -lm || fail "$prog: is not compiled"
	"$RADDLE" flavour --flavour full "./$prog" >/dev/null || fail "$prog: has no flavour"
}

# Some data that contains addresses is only hashed.
build mixed
arguments=
record golden && { (ulimit -s unlimited && record run1) || record run1; } || fail "mixed: not recorded"
"$RADDLE" compare golden run1 >same.txt || fail "mixed: $(cat same.txt)"
"$RADDLE" compare golden run1 --json | grep -q '^{"version"' || fail "an option behind the runs is not one"
"$RADDLE" compare golden run1 -- --json 2>/dev/null && fail "behind -- there are runs, not options"

# Pairs of runs that are made at the same time do not deviate.
for program in names padding waits handover quicksort; do
	build $program
	arguments=
	[ $program = names ] && arguments="one two"
	record golden || fail "$program: not recorded: $(cat err.txt)"
	for i in 1 2 3 4 5 6; do
		record "run$i" &
	done
	wait
	# Without a limit on the stack, everything else has other addresses.
	(ulimit -s unlimited && record run7) || record run7
	"$RADDLE" compare golden run[1-7] >same.txt || fail "$program: $(cat same.txt)"
	[ "$(grep -c 'no deviation' same.txt)" = 7 ] || fail "$program: $(cat same.txt)"
	"$RADDLE" sanitize -o names1 run1 && "$RADDLE" sanitize -o names2 run2 || fail "$program: not sanitised"
	diff -r names1 names2 >names.txt || fail "$program: sanitised runs differ: $(head names.txt)"
	[ -s names1/T_0 ] && [ -s names1/T_0_0 ] || fail "$program: threads are missing"
	rm -rf names1 names2
done

# The stacks and pthread_t of many threads are used again by later threads.
arguments="3000 1 32"
record golden && record run1 && record run2 || fail "many threads: not recorded"
"$RADDLE" compare golden run1 run2 >same.txt || fail "many threads: $(cat same.txt)"
arguments=
record golden && record run1 && record run2 || fail "not recorded"

# A naive comparison of two dumps differs, because the addresses do.
"$RADDLE" dump run1 >dump1.txt
"$RADDLE" dump run2 >dump2.txt
cmp -s dump1.txt dump2.txt && fail "two dumps are the same, so nothing was shown"

# A wrong value in one thread spreads to others (the program is quicksort).
slot=$(awk -F'\t' '$1 == "U" { print $2; exit }' <(zstd -dcq golden/sites 2>/dev/null || cat golden/sites))
site=$(awk -F'\t' -v slot="$slot" '$1 == "S" && $3 == "r" && $9 == "swap" { print slot * 65536 + $2; exit }' \
	<(zstd -dcq golden/sites 2>/dev/null || cat golden/sites))
record faulty --fault "T_0_0:$site:3:flip:0x100"
"$RADDLE" compare golden faulty >text.txt
[ $? = 1 ] || fail "the exit status of a deviation is not 1"
grep -q '^faulty: data deviation in T_0_0, record [0-9]*, at quicksort.c:[0-9:]* swap$' text.txt || fail "$(cat text.txt)"
grep -q '^  golden  load [0-9]* heap T_0 (quicksort.c:[0-9]*)#0+[0-9]*$' text.txt || fail "$(cat text.txt)"
grep -q 'through memory' text.txt || fail "no hop through memory: $(cat text.txt)"
awk 'length($0) > 80 { exit 1 }' text.txt || fail "lines are longer than 80 columns: $(cat text.txt)"

"$RADDLE" compare --json golden faulty run1 >all.json
[ $? = 1 ] || fail "--json: exit status"
python3 - <<'EOF' || fail "the JSON document is not as doc/format/compare.md says"
import json
d = json.load(open("all.json"))
assert d["version"] == 1 and d["golden"]["records"] > 0
faulty, same = d["runs"]
assert not same["deviated"] and same["first"] is None and not same["nodes"]
assert faulty["deviated"] and faulty["first"]["kind"] == "data" and faulty["first"]["function"] == "swap"
assert int(faulty["first"]["golden_value"]) ^ int(faulty["first"]["run_value"]) == 256
nodes = faulty["nodes"]
assert nodes[0]["thread"] == "T_0_0" and [n["id"] for n in nodes] == list(range(len(nodes)))
assert faulty["counts"]["data"] > 1
reached = {n["thread"] for n in nodes}
assert "T_0" in reached and len(reached) > 1, reached
hops = [e for e in faulty["edges"] if e["through"] == "memory" and e["threads"]]
assert hops and all(e["object"] for e in hops)
for e in faulty["edges"]:
    assert e["from"] < len(nodes) and e["to"] < len(nodes)
assert sum(t["data"] for t in faulty["threads"]) == faulty["counts"]["data"]
EOF
"$RADDLE" compare --first --json golden faulty | python3 -c '
import json, sys
run = json.load(sys.stdin)["runs"][0]
assert run["first"] and not run["nodes"] and run["counts"]["data"] == 1' || fail "--first"

# sanitize prints the notation of the paper.
"$RADDLE" sanitize run1 >paper.txt || fail "not sanitised"
grep -q '^[0-9]* T_0 *call-main 1 argv  *quicksort.c' paper.txt || fail "no call-main: $(head -3 paper.txt)"
grep -q 'store T_0_0\|load T_0_0' paper.txt || fail "no pthread_t is named"
grep -q '^heap T_0 (quicksort.c:[0-9]*)#0 := {ba=[0-9a-f]*, t=T_0, l_idx=[0-9]*, s=1200, v=\[[0-9]*,[0-9]*\]}$' paper.txt ||
	fail "no such object: $(grep ':=' paper.txt | head)"
grep -q '^M(0) := T_0$' paper.txt || fail "no map of threads"
grep -Eq ' (0x)?7f[0-9a-f]{10}' <(grep -v ':=' paper.txt) && fail "an address was left: $(grep -E ' 7f[0-9a-f]{10}' paper.txt | head -3)"
"$RADDLE" sanitize --json -t T_0_0 run1 | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["records"] and all(r["thread"] == "T_0_0" for r in d["records"])' || fail "sanitize --json"

# If traces cannot be compared, the message is one line.
"$RADDLE" compare golden 2>err.txt
[ $? = 2 ] && [ "$(wc -l <err.txt)" = 1 ] || fail "one trace: $(cat err.txt)"
"$RADDLE" compare golden nowhere 2>err.txt
[ $? = 2 ] && [ "$(wc -l <err.txt)" = 1 ] || fail "no such trace: $(cat err.txt)"
build names
record other
"$RADDLE" compare golden other 2>err.txt
[ $? = 2 ] && grep -q 'not runs of the same program' err.txt || fail "another program: $(cat err.txt)"
for number in 1 2; do
	"$RADDLE" cc -g -x c -o "like$number" - <<<"int main(void) { volatile int n = $number; return n - $number; }" || fail "like$number"
	"$RADDLE" record --flavour full -o "like$number.trace" -- "./like$number" || fail "like$number is not recorded"
done
"$RADDLE" compare like1.trace like2.trace 2>err.txt
[ $? = 2 ] && grep -q 'not runs of the same program' err.txt || fail "a program of the same shape: $(cat err.txt)"
"$RADDLE" record -o events -- ./names >/dev/null 2>&1
"$RADDLE" sanitize events 2>err.txt
[ $? = 2 ] && grep -q 'not a full trace' err.txt || fail "not full: $(cat err.txt)"
# A part of a golden run cannot be compared with.
record part
truncate -s -9 part/thread-0
"$RADDLE" compare part other >same.txt 2>err.txt
[ $? = 2 ] && grep -q 'not recorded to its end' err.txt || fail "half a golden run: $(cat same.txt err.txt)"
"$RADDLE" reversible part >same.txt 2>err.txt
[ $? = 3 ] && grep -q 'unknown: the trace' same.txt || fail "half a run is reversible: $(cat same.txt err.txt)"
exit 0
