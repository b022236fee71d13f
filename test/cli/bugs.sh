# SPDX-License-Identifier: Apache-2.0
#
# Findings with one cause are one bug, in the report and in the document.  A bug keeps its id, and
# `raddle replay ID` repeats it.  A failure that exploration found has a timeline with values.
. "$ROOT/test/lib.sh"

prog=$ROOT/test/prog/bugs
for name in withdraw refcount; do
	"$RADDLE" cc -g -O1 -pthread "$prog/$name.c" -o $name || fail "$name"
done

# check NAME OPTION...: checks a program and counts its confirmed bugs.
check() {
	local name=$1
	shift
	"$RADDLE" check --no-explore --json=$name.json "$@" -- ./$name >out 2>err </dev/null
	[ $? = 1 ] || complain "$name: nothing is confirmed: $(cat err)"
	jq '[.bugs[] | select(.status == "confirmed")] | length' $name.json
}
same() { [ "$2" = "$3" ] || complain "$1: $2 instead of $3: $(cat err)"; }

same "bugs of refcount" "$(check refcount)" 1
same "blocks of the report" "$(grep -c '^BUG 1 of 1 ' err)" 1
jq -e '.bugs[0].findings | length >= 2' refcount.json >/dev/null || complain "the evidence: $(jq -c .bugs refcount.json)"
jq -e '[.bugs[0].findings[]] - [.findings[].id] == []' refcount.json >/dev/null || complain "a bug names no findings"
awk '/^BUG/ { lines = 0 } { lines++ } /^ *Again/ { exit lines > 32 }' err || complain "a bug has too many lines: $(cat err)"
id=$(jq -r '.bugs[0].id' refcount.json)
check refcount >/dev/null
same "the id in another check" "$(jq -r '.bugs[0].id' refcount.json)" "$id"
"$RADDLE" replay "${id:0:8}" >out 2>replayed </dev/null
same "the status of a replay by id" $? 1
grep -q 'use after free\|data race' replayed || complain "the replay: $(cat replayed)"
"$RADDLE" replay 123456789 >out 2>replayed </dev/null
same "the status of a replay by an unknown id" $? 2
grep -q 'no finding or bug with this id' replayed || complain "an unknown id: $(cat replayed)"

# Two checks of one program have the same bugs.  Those of another program are new.
"$RADDLE" diff refcount.json raddle-check >out 2>err
same "the status of a diff without new bugs" $? 0
grep -qx 'Raddle: 0 new, 0 fixed, 1 still there' out || complain "the diff: $(cat out err)"
jq '.bugs = [] | .findings = []' refcount.json >none.json
"$RADDLE" diff --json none.json refcount.json >out 2>err
same "the status of a diff with a new bug" $? 1
[ "$(jq -r '.new[0].id' out) $(jq -c '[.fixed, .still]' out)" = "$id [[],[]]" ] || complain "the diff: $(cat out)"
"$RADDLE" diff none.json nowhere >out 2>err
same "the status of a diff without a check" $? 2

# The values show why the assertion fails: both threads withdraw.
"$RADDLE" explore --schedules 300 --json=explored.json -- ./withdraw >out 2>err </dev/null
same "the status of explore" $? 1
jq -e '.bugs | length == 1 and .[0].title == "failed assertion"' explored.json >/dev/null || complain "$(jq -c .bugs explored.json)"
jq -e '[.bugs[0].timeline[] | select(.event == "balance: 100 -> 40" or .event == "balance: 40 -> -20") | .thread] |
	sort == ["T_0_0", "T_0_1"]' explored.json >/dev/null || complain "the timeline: $(jq -c '.bugs[0].timeline' explored.json)"
jq -e '.bugs[0].timeline[-1] | .thread == "T_0" and .marks == ["failure"]' explored.json >/dev/null ||
	complain "the last step: $(jq -c '.bugs[0].timeline' explored.json)"
grep -q '<-- fails here' err || complain "the report: $(cat err)"
"$RADDLE" replay "$(jq -r '.bugs[0].id[:6]' explored.json)" >out 2>replayed </dev/null
grep -q 'ended by signal 6' replayed || complain "the failure is not repeated: $(cat replayed)"

if [ -n "${RADDLE_LONG:-}" ]; then
	"$RADDLE" c++ -g -O1 -pthread "$prog/cache.cc" -o cache || fail "cache"
	same "bugs of cache" "$(check cache --no-classify)" 1
	jq -e '.bugs[0].title == "data race on cache"' cache.json >/dev/null || complain "$(jq -c '.bugs[0] | .title' cache.json)"
fi
verdict
