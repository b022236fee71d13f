# Schedules that control the whole run (doc/format/schedule.md): which thread goes first, decisions,
# seeds, and a plan that grows while the program is stopped.  The schedule alone determines what a
# program prints.
. "$ROOT/test/lib.sh"
shown=(err)

"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/turns.c" -o turns || exit 1

# inline NAME MEMBERS: writes a document whose schedule lets threads take turns and has these
# members.
inline() {
	jq -n "{version: 1, findings: [{id: \"0123456789abcdef\", kind: \"race\", status: \"unconfirmed\", class: null,
		consequence: null, object: \"x\", accesses: [], schedule_inline: ({version: 2, turns: true} + {$2})}]}" >"$1"
}
# says WANTED MODE ARGUMENTS...: replays, and expects this output.
says() {
	local wanted=$1 mode=$2 got
	shift 2
	got=$("$RADDLE" replay --no-detect ${flavour-} "$@" -- ./turns "$mode" 2>err </dev/null)
	[ "$got" = "$wanted" ] || complain "$mode, replay $*: $got instead of $wanted"
}
trail() {
	grep -o 'trail [0-9a-f]*' err
}
# always COUNT WANTED MODE ARGUMENTS...: expects this output each time, with the same choices.
always() {
	local count=$1 first
	shift
	says "$@"
	first=$(trail)
	for _ in $(seq 2 "$count"); do
		says "$@"
		[ "$(trail)" = "$first" ] || complain "$*: $(trail) instead of $first"
	done
}

# The order of two accesses that met determines the output each time.  It is given by the option or
# by the schedule.
"$RADDLE" record -f -o race.trace -- ./turns race >/dev/null 2>&1
"$RADDLE" predict --json race.trace >race.json
jq '.findings |= map(select(.object == "x" or .object.name == "x")) | .findings |= .[:1]' race.json >x.json
jq -e '.findings | length == 1' x.json >/dev/null || fail "no race on x: $(cat race.json)"
first=$(jq -r '.findings[0].schedule_inline.holds[0].thread' x.json)
second=$(jq -r '.findings[0].schedule_inline.holds[1].thread' x.json)
# letter THREAD: prints the letter that the thread writes.
letter() {
	case $1 in T_0_0) echo a ;; *) echo b ;; esac
}
for thread in $first $second; do
	other=$([ "$thread" = "$first" ] && echo "$second" || echo "$first")
	jq ".findings[0].schedule_inline += {version: 2, turns: true, first: \"$thread\"}" x.json >first.json
	always 20 "$(letter "$other")0" race first.json
	grep -q 'confirmed by replay' err || complain "the meeting is not confirmed"
	# When the thread continues after its access, the other one has already ended.
	n=$(jq "[.findings[0].schedule_inline.holds[] | select(.thread == \"$thread\") | .after][0]" x.json)
	jq ".findings[0].schedule_inline.decisions = [{thread: \"$thread\", n: $n, point: \"back\", count: 1, next: \"$other\"}]" \
		first.json >back.json
	always 5 "$(letter "$other")0" race back.json
done

# Decisions choose a third thread: when main waits in its first join, a thread other than the
# default one continues.
inline default.json ''
inline third.json 'decisions: [{thread: "T_0", n: 5, point: "wait", count: 1, next: "T_0_2"},
	{thread: "T_0_2", n: 4, point: "end", count: 1, next: "T_0_1"}]'
inline inside.json 'decisions: [{thread: "T_0_0", n: 3, point: "op", count: 1, next: "T_0_2"},
	{thread: "T_0_2", n: 2, point: "wait", count: 1, next: "T_0_1"}]'
always 10 abc-0 letters default.json
always 20 cba-0 letters third.json
always 20 abc-0 letters inside.json
inline never.json 'decisions: [{thread: "T_0_0", n: 2, point: "op", count: 1, next: "T_0"}]'
"$RADDLE" replay --no-detect never.json -- ./turns letters >/dev/null 2>err
grep -q 'decision 1 of 1 was that T_0 runs next at point op 1 of T_0_0 after its operation 2, but that thread is not runnable then' err ||
	complain "a decision that cannot be kept"

# The same seed gives the same output in 50 of 50 runs, and different seeds give different outputs.
# With a watched variable, the accesses of the threads interleave.
inline watched.json 'watches: [{object: "counter", site: 0, occurrence: 0}]'
outcomes() {
	for seed in $(seq 1 20); do
		"$RADDLE" replay -q --no-detect ${flavour-} --seed "$seed" "$1" -- ./turns "$2" </dev/null
	done | sort -u | tr '\n' ' '
}
[ "$(outcomes default.json letters | wc -w)" -ge 4 ] || complain "seeds lead to: $(outcomes default.json letters)"
[ "$(outcomes watched.json count)" = '-2 -3 -4 ' ] || complain "seeds of count lead to: $(outcomes watched.json count)"
[ "$(outcomes default.json count)" = '-4 ' ] || complain "without watches: $(outcomes default.json count)"
lost=
for seed in $(seq 1 20); do
	"$RADDLE" replay -q --no-detect --seed "$seed" watched.json -- ./turns count </dev/null | grep -q -- -2 && lost=$seed
done
[ -n "$lost" ] || fail "no seed loses an update"
always 50 -2 count --seed "$lost" watched.json

# The exported decisions of a seed give the same run without the seed.
says -2 count --seed "$lost" --export exported watched.json
before=$(trail)
grep -q '^seed' exported && complain "the export has a seed"
grep -q '^next' exported || complain "the export has no decisions: $(cat exported)"
always 20 -2 count exported
[ "$(trail)" = "$before" ] || complain "the export went another way"
"$RADDLE" replay --no-detect --export - exported -- ./turns count </dev/null >printed 2>err
grep -q '^next' printed && [ ! -e ./- ] || complain "an export to standard output: $(cat printed err)"
"$RADDLE" dump exported >dumped || complain "dump: $(cat dumped)"
grep -q 'T_0_[01] is stopped before an access at turns.c:[0-9]*; ' dumped || complain "dump does not show decisions: $(cat dumped)"

# Spins, sleeps and condition variables work with any seed.
for seed in 1 2 3 4 5 6; do
	for mode in spin sleep; do
		says "$("$RADDLE" replay -q --no-detect --seed $seed default.json -- ./turns $mode)" $mode --seed $seed default.json
		"$RADDLE" replay -q --no-detect --seed $seed default.json -- ./turns $mode | grep -q 'b.*a' || complain "$mode $seed"
	done
	says "$("$RADDLE" replay -q --no-detect --seed $seed default.json -- ./turns queue)" queue --seed $seed default.json
done

# A run of the flavour `full` is led to the same accesses by the same schedules.
flavour='--flavour full'
for thread in $first $second; do
	other=$([ "$thread" = "$first" ] && echo "$second" || echo "$first")
	jq ".findings[0].schedule_inline += {version: 2, turns: true, first: \"$thread\"}" x.json >first.json
	always 10 "$(letter "$other")0" race first.json
	grep -q 'confirmed by replay' err || complain "the meeting is not confirmed in the flavour full"
done
always 10 cba-0 letters third.json
[ "$(outcomes watched.json count)" = '-2 -3 -4 ' ] || complain "full: seeds of count lead to: $(outcomes watched.json count)"
[ "$(outcomes watched.json update)" = '-2 -3 -4 ' ] || complain "full: seeds of update lead to: $(outcomes watched.json update)"
always 20 -2 count --seed "$lost" watched.json
[ "$(trail)" = "$before" ] || complain "full: a seed goes another way: $(trail) instead of $before"
always 10 -2 count exported
says -2 count --record full.trace exported
"$RADDLE" dump --check full.trace >checked 2>&1 || complain "the full trace of a replay: $(cat checked)"
grep -q ' store' checked || complain "the trace has no values: $(cat checked)"
flavour=

# A deadlock of the program is distinguished from a schedule that cannot be followed.
"$RADDLE" cc -O1 -g -pthread -DFREE_ORDER "$ROOT/test/prog/micro/order-deadlock.c" -o order-deadlock || exit 1
stands='was deadlocked and was killed: T_0_0 waits in mutex-lock of b, which T_0_1 holds; T_0_1 waits'
for seed in $(seq 1 40); do
	"$RADDLE" replay --no-detect --seed "$seed" --export locks default.json -- ./order-deadlock >out 2>err
	grep -q "$stands" err && break
done
grep -q "$stands" err || complain "no seed leads into the deadlock"
for _ in 1 2 3; do
	"$RADDLE" replay --no-detect locks -- ./order-deadlock >out 2>err
	[ $? = 1 ] || complain "the schedule of the deadlock is not kept"
	grep -q "$stands" err || complain "the deadlock does not come again"
done

# The plan is extended while the program is stopped.  After the decisions of one schedule come those
# of another, with its watches and its seed.
inline begin.json 'decisions: [{thread: "T_0", n: 5, point: "wait", count: 1, next: "T_0_2"}]'
inline rest.json 'decisions: [{thread: "T_0_2", n: 4, point: "end", count: 1, next: "T_0_1"}]'
always 3 cab-0 letters begin.json
always 10 cba-0 letters --then rest.json begin.json
jq ".findings[0].schedule_inline.seed = $lost" watched.json >seeded.json
always 10 -2 count --then seeded.json default.json
[ "$(trail)" = "$before" ] || complain "a seed that came late: $(trail) instead of $before"

# refused TEXT ARGUMENTS...: each error has a message that contains TEXT.
refused() {
	"$RADDLE" replay "${@:2}" -- ./turns race >out 2>err
	[ $? = 2 ] || complain "$*: not refused"
	grep -q "$1" err || complain "$1 is not said"
}
refused 'only a variable of the program' <(jq '.findings[0].schedule_inline.watches[0].object = "nothing"' watched.json)
refused 'it has two stops\|excludes stop records' --seed 1 "$ROOT/test/golden/deadlock-v1.schedule"
verdict
