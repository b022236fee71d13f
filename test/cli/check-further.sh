# `raddle check` continues by itself: runs under other schedules show races and failures that the
# recorded run cannot show, and show nothing if nothing is wrong.  A check without a time limit
# takes a few thousand runs; the short form leaves out second cases of a kind.
. "$ROOT/test/lib.sh"
shown=(err)
unset RADDLE_OPTIONS # it turns explorations off in tests

build_once order cc -O1 -pthread "$ROOT/test/prog/explore/order.c" || exit 1
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/explore/path.c" -o path || exit 1
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/explore/passed.c" -o passed || exit 1
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/explore/slots.c" -o slots || exit 1

# check NAME STATUS ARGS...: the findings are in of-NAME/findings.json.  Without a time limit, the
# check ends when nothing new is found.
check() {
	local name=$1 wanted=$2 got=0
	shift 2
	"$RADDLE" check --no-classify --time 0 -o "of-$name" "$@" >out.txt 2>err </dev/null || got=$?
	[ $got = "$wanted" ] || complain "$name: status $got instead of $wanted"
}
# holds NAME FILTER
holds() {
	jq -e "$2" "of-$1/findings.json" >/dev/null || complain "$1: not $2: $(jq -c '[.stats, [.findings[] | [.kind, .status, .consequence]]]' "of-$1/findings.json")"
}

# Each access is locked, but the order is wrong.  Recorded runs that pass do not show that.
check lost 1 -- ./order lost
holds lost '.findings | length == 1 and .[0].kind == "failure" and .[0].status == "confirmed" and .[0].consequence == "assertion"'
for i in 1 2 3; do
	"$RADDLE" replay of-lost/*.schedule -- ./order lost >out.txt 2>err </dev/null
	grep -q 'ended by signal 6' err || complain "replay $i"
done

# A race on a path that the recorded run did not take.
check path 1 -- ./path
holds path '[.findings[] | select(.kind == "race" and .status == "confirmed")] | length == 1'
grep -q '^Further runs: [1-9][0-9]* recorded, ' err || complain "what was covered is not told"

# A value separates two writes.  If it is passed on with relaxed order, nothing orders them in one
# order of the threads.
check relaxed 1 -- ./passed relaxed
holds relaxed '.findings | length == 1 and .[0].kind == "race" and .[0].status == "confirmed" and .[0].observed'
"$RADDLE" replay of-relaxed/*.schedule -- ./passed relaxed >out.txt 2>err </dev/null
grep -q 'Raddle: 1 bug: ' err || complain "replay of an order that the detector saw"
if [ -n "${RADDLE_LONG:-}" ]; then
	check ordered 0 -- ./passed ordered
	holds ordered '[.findings[] | select(.status == "confirmed")] == []'
fi

if [ -n "${RADDLE_LONG:-}" ]; then
	# Two threads write the same slot if one is stopped between two atomic operations.  Recorded
	# schedules stop there, too.
	check slots 1 -- ./slots
	holds slots '[.findings[] | select(.kind == "race" and .status == "confirmed")] | length == 1 and (.[0].object | test("^slots"))'
	check unshown 0 --strategy weighted -- ./slots # other strategies do not draw those schedules again
	holds unshown '.findings | length == 1 and .[0].kind == "race" and .[0].status == "unconfirmed" and (.[0].reason | test("in an explored schedule"))'
	check taken 0 -- ./slots taken
	holds taken '[.findings[] | select(.status == "confirmed")] == []'
fi

# A deadlock that prediction has found is not reported a second time.
check locks 1 -- ./order locks
holds locks '.findings | length == 1 and .[0].kind == "deadlock"'

# Nothing is wrong in any schedule; and with --no-explore, other schedules are not tried.
check fine 0 --strategy pos --seed 3 -- ./order lost-fine
holds fine '.findings == [] and .stats.further_runs >= 3 and .stats.schedules > 20'
check plain 0 --no-explore -- ./order lost
holds plain '.findings == [] and .stats.further_runs == 0 and .stats.schedules == 0'
check strategy 2 --strategy luck -- ./order lost
verdict
