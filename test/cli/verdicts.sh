# Which results of replays may decide a verdict, and which may not.
. "$ROOT/test/lib.sh"

# verdict_of ARGUMENTS...: prints status and reason of each finding of a check.
verdict_of() {
	"$RADDLE" check --no-classify -o found --json found.json "$@" >out 2>&1
	jq -r '.findings[] | "\(.status): \(.reason)"' found.json
}

# A replay in which the system refuses the program a resource has no result.
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/lack.c" -o lack || exit 1
for what in memory threads descriptors; do
	rm -rf found seen
	found=$(verdict_of --setup 'test ! -d found/trace || touch seen' -- ./lack $what)
	grep -qE '^unconfirmed: .*the system refused the program (memory|threads or processes|descriptors)' <<<"$found" ||
		complain "$what: $found"
done
rm -rf found seen
[ "$(verdict_of -- ./lack nothing)" = 'confirmed: null' ] || complain "nothing is refused: $(cat out)"
# If a program limits its own resources, those that the runtime needs do not count.
rm -rf found
[ "$(verdict_of --no-explore -- ./lack limits)" = 'confirmed: null' ] || complain "its own limits: $(cat out)"

# Some synchronisation is not done with locks: a file that a thread makes, the end of an owner, or a
# cancellation.  It also orders threads, and wakes threads that take turns.
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/unseen.c" -o unseen || exit 1
for what in robust cancel; do
	"$RADDLE" explore -n 40 -- ./unseen $what >out 2>&1 || complain "$what: status $?: $(cat out)"
done
rm -rf found
found=$(verdict_of -- ./unseen file)
! grep -q '^confirmed' <<<"$found" || complain "file: $found: $(cat out)"

# Even with thousands of threads, the last ones can be led.
rm -rf found
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/latecomers.c" -o latecomers || exit 1
found=$(verdict_of --time 5m -- ./latecomers 4200)
[ "$found" = 'confirmed: null' ] || complain "latecomers: $found"

# A thread that took another path after a racing read shows nothing about the schedule.
rm -rf found
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/micro/chance-race.c" -o chance || exit 1
found=$(verdict_of -- ./chance)
grep -qE '^unconfirmed: T_0_0 should reach .*T_0_0 reads at chance-race.c:[0-9]+ what T_0 writes at chance-race.c:[0-9]+ without an order' <<<"$found" ||
	complain "chance: $found"
grep -q '^confirmed: null' <<<"$found" || complain "chance: the read itself: $found"

# The read is kept after the write whose value it read in the recorded run, in the schedule, too.
rm -rf found seen
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/kept.c" -o kept || exit 1
verdict_of --setup 'test ! -d found/trace || touch seen' -- ./kept >verdicts
[ "$(sort -u verdicts)" = 'confirmed: null' ] || complain "kept: $(cat verdicts)"
id=$(jq -r '.findings[] | select(.object == "data") | select(.schedule_inline.keep_first > 0).id' found.json)
[ -n "$id" ] || complain "kept: no order is kept: $(cat found.json)"
"$RADDLE" replay "found/$id.schedule" -- ./kept >out 2>&1
[ $? = 1 ] || complain "kept: it is not reproduced: $(cat out)"
verdict
