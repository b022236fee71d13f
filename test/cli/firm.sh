# SPDX-License-Identifier: Apache-2.0
#
# The recorded run itself is evidence: two accesses that it shows unordered are a race, if nothing
# in the run could have ordered them.
. "$ROOT/test/lib.sh"

"$RADDLE" c++ -std=c++17 -O1 -g -pthread "$ROOT/test/prog/firm.cpp" -o firm || exit 1

# In most modes, something that prediction does not know may have ordered the accesses, so no race
# is firm.  In the modes nothing and relaxed, a race is firm.  In the mode guard, the read of `data`
# is not reached.
for mode in file helper fence timer signal guard exception nothing relaxed; do
	"$RADDLE" record -f -o trace -- ./firm $mode >out 2>&1 || complain "record $mode: $(cat out)"
	"$RADDLE" predict --json=found.json trace >out 2>&1 || complain "predict $mode: $(cat out)"
	firm=$(jq '[.findings[] | select(.firm)] | length' found.json)
	case $mode in
	nothing | relaxed) [ "$firm" -gt 0 ] || complain "$mode: nothing is firm: $(cat found.json)" ;;
	*) [ "$firm" = 0 ] || complain "$mode: firm: $(jq -c '.findings[] | [.object, .firm]' found.json)" ;;
	esac
done

# In a large run, a firm race is confirmed by the recorded run alone, and reported once.
"$RADDLE" check --no-classify --no-explore --time 60 -o checked --json=found.json -- ./firm large >out 2>&1
[ $? = 1 ] || complain "large: nothing is confirmed: $(cat out)"
[ "$(jq -r '.findings[] | select(.object == "data") | "\(.status) \(.recorded) \(.observed)"' found.json)" = 'confirmed true true' ] ||
	complain "large: $(cat found.json)"
[ "$(jq .stats.runs_more found.json)" -gt 0 ] || complain "large: it ran once: $(jq -c .stats found.json)"
[ ! -e checked/trace-2 ] || complain "large: the trace of a further run is left"
[ "$(grep -c 'BUG [0-9] of [0-9]  data race on data ' out)" = 1 ] || complain "large: it is not told once: $(cat out)"

# A run that does not reach the race does not reproduce it, and the replay says that the recorded
# run had it.
id=$(jq -r '.findings[] | select(.object == "data") | .id' found.json)
grep -q 'In the recorded run.  A new run may differ' out || complain "large: how it was seen: $(cat out)"
"$RADDLE" replay checked/"$id".schedule -- ./firm guard >out 2>&1
[ $? = 0 ] || complain "large: reproduced by a run without it: $(cat out)"
grep -q 'did not reproduce it, but it happened' out || complain "large: replay: $(cat out)"

# Compiler barriers order data that is handed over through a plain pointer.  So neither the run nor
# the detector confirms a race, but a meeting does.
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/barrier.c" -o barrier || exit 1
"$RADDLE" check --no-classify --no-explore --time 60 -o barriers --json=found.json -- ./barrier >out 2>&1
[ "$(jq -r '.findings[] | select(.object == "item.value") | .status' found.json)" != confirmed ] ||
	complain "barrier: what was handed over is confirmed: $(cat out)"
[ "$(jq -r '.findings[] | select(.object == "slot") | .status' found.json)" = confirmed ] ||
	complain "barrier: the pointer is not confirmed: $(cat out)"

printf 'int nothing_at_all(void) { return 0; }\n' >native.c
cc -shared -fPIC -o libnative.so native.c || exit 1
"$RADDLE" c++ -std=c++17 -O1 -g -pthread "$ROOT/test/prog/firm.cpp" -o firm -Wl,--no-as-needed -L. -lnative -Wl,-rpath,"$PWD" || exit 1
"$RADDLE" check --no-classify --no-explore --no-replay --time 60 -o foreign --json=found.json -- ./firm large >out 2>&1
[ $? = 0 ] || complain "foreign: $(cat out)"
jq -e '.findings[] | select(.object == "data") | .status == "unconfirmed" and .seen == "unordered" and (.reason | test("libnative.so"))' \
	found.json >/dev/null || complain "foreign: $(cat found.json)"
verdict
