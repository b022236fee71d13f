# `raddle replay`: what is reproduced, what is not and why, and that the program is otherwise not
# affected.
# sanitizers: yes, runs replay/
. "$ROOT/test/lib.sh"

micro=$ROOT/test/prog/micro

# candidate SOURCE [ARGS...]: builds and records the program, and predicts.  The schedules are in
# NAME.found.
candidate() {
	name=$(basename "$1" .c)
	"$RADDLE" cc -O1 -g -pthread "$1" -o "$name" || exit 1
	shift
	"$RADDLE" record -f -o "$name.trace" -- "./$name" "$@" >/dev/null 2>&1 </dev/null
	"$RADDLE" predict --json --schedules "$name.found" "$name.trace" >"$name.json" || exit 1
	schedule=$(ls "$name.found"/*.schedule | head -1)
	[ -n "$schedule" ] || complain "$name: nothing is predicted"
}
# status WANTED ARGUMENTS...: replays, and expects this status.  The report is in err, and the
# program's output in out.
status() {
	local wanted=$1 got
	shift
	"$RADDLE" replay "$@" >out 2>err </dev/null
	got=$?
	[ $got = "$wanted" ] || complain "replay $*: status $got instead of $wanted: $(cat err)"
}
says() {
	tr -s '\n ' ' ' <err | grep -qE -- "$1" || complain "'$1' is not in: $(cat err)"
}

# A race: both threads were stopped at their accesses, each time.
candidate "$micro/sections-race.c"
status 1 --times 20 --json race.json "$schedule" -- ./sections-race
says 'data race on x \(confirmed by replay\)'
says 'T_0_[01] was stopped before its write of 4 bytes at 0x[0-9a-f]+ while T_0_[01] was stopped before its (read|write) of 4 bytes at'
says 'reproduced in 20 of 20 replays'
jq -e '.stats.confirmed == 20 and .stats.replays == 20 and .findings[0].status == "confirmed" and
	(.findings[0].accesses[0].stack | length) >= 1' race.json >/dev/null || complain "race: $(cat race.json)"
status 1 --quiet --no-detect --first 1 "$schedule" -- ./sections-race
[ ! -s err ] || complain "--quiet says: $(cat err)"

# If the replayer is killed, the program ends, too.
cat >linger.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int x;
static void *count(void *argument)
{
	x++;
	return argument;
}
int main(int argc, char **argv)
{
	pthread_t a, b;
	FILE *out;

	pthread_create(&a, NULL, count, NULL);
	pthread_create(&b, NULL, count, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	if (argc > 1 && (out = fopen(argv[1], "w"))) {
		fprintf(out, "%d\n", (int)getpid());
		fclose(out);
		pause();
	}
	return 0;
}
EOF
candidate linger.c
"$RADDLE" replay --no-detect "$schedule" -- ./linger lingers >/dev/null 2>&1 &
replayer=$!
until [ -s lingers ] || ! kill -0 $replayer 2>/dev/null; do sleep 0.05; done
kill -KILL $replayer
wait $replayer 2>/dev/null
program=$(cat lingers)
for _ in $(seq 200); do kill -0 "$program" 2>/dev/null || break; sleep 0.05; done
kill -KILL "$program" 2>/dev/null && complain "the program outlives the replayer"

# A finding is taken from a document, whose program is run if none is named.  The replay is
# recorded.
id=$(jq -r '.findings[0].id' sections-race.json)
status 1 sections-race.json
status 1 --id "${id:0:8}" --record again sections-race.json
says 'holding'
"$RADDLE" dump --check again >checked 2>&1 || complain "the recorded replay: $(cat checked)"

# Deadlocks: two locks in both orders, one lock twice, and a lost signal.
for name in order-deadlock self-deadlock lost-deadlock; do
	candidate "$micro/$name.c"
	status 1 --times 3 "$schedule" -- "./$name"
	says 'deadlock .*\(confirmed by replay\)'
	says 'reproduced in 3 of 3 replays'
	says 'replayed: T_0[_0-9]* waits in (mutex-lock|cond-wake) of [abcm]'
	says 'Consequence: deadlock'
done

status 1 --verbose lost-deadlock.found/*.schedule ./lost-deadlock
says 'raddle: 1/[0-9]+ T_0'

# Some races are not reproduced.  In one, a thread reads another value and takes another branch.  In
# another, a thread spins until a stopped thread does something that Raddle does not see.  The last
# one has another input.
candidate "$micro/value-fine.c"
status 0 --json value.json "$schedule" -- ./value-fine
says 'T_0_1 should reach its write of x at value-fine.c:[0-9]+, but continued to its operation [0-9]+, thread-end'
jq -e '.findings[0].status == "dropped" and .stats.diverged == 1' value.json >/dev/null || complain "$(cat value.json)"
candidate "$micro/file-fine.c"
status 0 --patience 1000 --json spin.json "$schedule" -- ./file-fine
says 'a thread spins, waiting for something that a stopped thread would do: T_0_1 should reach its read of data'
jq -e '.stats.livelock == 1' spin.json >/dev/null || complain "spin: $(cat spin.json)"

# A relaxed flag separates the threads, but does not order them.  The detector confirms the race
# unless --no-detect is given.
candidate "$micro/atomic-race.c"
status 0 --patience 1 --no-detect "$schedule" -- ./atomic-race
status 1 --patience 1 "$schedule" -- ./atomic-race
says 'the detector saw the write of T_0_0 and the later read of T_0_1'
candidate "$ROOT/test/prog/replay.c" use
status 0 "$schedule" -- ./replay idle
says 'ended with status 3 too early: T_0'

# One order of the accesses ends well, and the other one in a crash, which is reported.  But a single
# replay does not show that the race is the cause, so the race gets no consequence.
touch order.0 order.1
for first in 0 1; do
	status 1 --first $first "$schedule" -- ./replay use
	mv err order.$first
done
cat order.0 order.1 >err
! grep -q 'Consequence:' err || complain "a replay shows no consequence: $(cat err)"
says 'after that the program was ended by signal 11'
says 'after that the program ended with status 0'

# The program has the streams of the replay.
echo 'a line' | "$RADDLE" replay "$schedule" -- ./replay echo >out 2>/dev/null
[ "$(cat out)" = 'echo: a line' ] || complain "the program's streams: $(cat out)"

# refused TEXT ARGUMENTS...: expects one line that contains TEXT.
refused() {
	status 2 "${@:2}"
	[ "$(wc -l <err)" = 1 ] || complain "more than a line: $(cat err)"
	says "$1"
}
refused 'does not fit this program: it has no (read|write) at' "$schedule" -- ./sections-race
refused 'does not fit this program: it has no call at' order-deadlock.found/*.schedule -- ./sections-race
sed '$d' "$schedule" >cut
refused 'cut off' cut -- ./replay use
sed 's/T_0_1/T_0_2/' "$schedule" >edited
refused 'checksum' edited -- ./replay use
refused 'line 1' /bin/true -- ./replay use
refused 'which program' "$schedule"
refused 'which finding' --times 2
refused 'cannot find ./nowhere' "$schedule" -- ./nowhere
refused "has the id 'ffffffff'" --id ffffffff sections-race.json
refused 'out of range .0 to 1' --first 2 "$schedule" -- ./replay
jq '.findings += .findings' sections-race.json >two.json
refused 'has 2 findings; choose one' two.json

# An interrupted replay ends, although threads are stopped, by the signal that the program got.  The
# giving thread is stopped while the taking thread polls in vain.  The taking thread does not yield,
# so only --patience would end the attempt.
sed 's/sched_yield()//' "$micro/file-fine.c" >file-polls.c
cp "$micro/case.h" .
used=$schedule
candidate ./file-polls.c
"$RADDLE" replay --patience 1000 "$schedule" -- ./file-polls >out 2>err &
pid=$!
asks_in_vain() {
	local program
	program=$(pgrep -P "$(pgrep -d, -P $pid)" -x file-polls) && has_used "$program" 10
}
wait_for 60 asks_in_vain || complain "interrupted: no thread is held: $(cat err)"
kill -TERM $pid
wait $pid
got=$?
[ $got = $((128 + 15)) ] || complain "interrupted: status $got: $(cat err)"
schedule=$used

# In gdb without a terminal, both threads are at their accesses, and then one goes first.
if command -v gdb >/dev/null && gdb -batch -ex 'python print(1)' 2>/dev/null | grep -qx 1; then
	"$RADDLE" replay --gdb-args='-batch -ex "print value" -ex raddle-go' "$schedule" -- ./replay use >out 2>err </dev/null
	got=$?
	[ $got = 1 ] || complain "gdb: status $got: $(cat err)"
	grep -qE '^0: T_0_0 \(thread [0-9]+\) is stopped before its read of 8 bytes' out || complain "gdb: $(cat out)"
	grep -qE '^1: T_0_1 \(thread [0-9]+\) is stopped before its write of 8 bytes' out || complain "gdb: $(cat out)"
	grep -qE '^#[0-9]+ +use at .*replay.c:[0-9]+' out || complain "gdb does not show the access: $(cat out)"
	grep -qE '^#[0-9]+ +(nap|rt_|stand)' out && complain "gdb shows the runtime: $(cat out)"
	grep -qx '\$1 = 0' out || complain "gdb knows no variables: $(cat out)"
	# Backtraces leave out the runtime, unless all frames are requested.
	"$RADDLE" replay --gdb-args='-batch -ex bt -ex "thread apply 1 bt" -ex raddle-go' "$schedule" -- ./replay use >bt 2>err </dev/null
	grep -qE '^#[0-9]+ +(0x[0-9a-f]+ in )?use \(' bt || complain "bt does not show the access: $(cat bt)"
	grep -qE '^#[0-9]+ +(0x[0-9a-f]+ in )?main \(' bt || complain "bt does not show main: $(cat bt)"
	grep -E '^#[0-9]+ ' bt | grep -E 'target/rt/|__raddle|syscall' && complain "bt shows the runtime: $(cat bt)"
	"$RADDLE" replay --gdb-args='-batch -ex "bt -no-filters" -ex raddle-go' "$schedule" -- ./replay use >bt 2>err </dev/null
	grep -qE '^#[0-9]+ .* at (.*/)?rt/' bt || complain "bt -no-filters leaves out the runtime: $(cat bt)"
	grep -q 'exited normally' out || complain "gdb did not let them go: $(cat out)"
	"$RADDLE" replay --gdb-args=-batch order-deadlock.found/*.schedule -- ./order-deadlock >out 2>err </dev/null
	[ "$(grep -cE '^[01]: T_0_[01] .*waits in mutex-lock of [ab], held by T_0_[01]' out)" = 2 ] ||
		complain "gdb at a deadlock: $(cat out)"
fi
verdict
