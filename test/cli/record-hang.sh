# A program that hangs forever is ended, and the report shows which thread waits for which.  A
# program that only seems to hang is left alone.
. "$ROOT/test/lib.sh"

"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/hang.c" -o hang || exit 1
"$RADDLE" flavour --fast ./hang >/dev/null || exit 1

record() { # case, options
	local case=$1
	shift
	"$RADDLE" record "$@" -o "$case.trace" -- ./hang "$case" >"$case.out" 2>"$case.err"
	echo $? >"$case.status"
}
# All programs run at once, because they mostly wait.  The one without a watchdog is started first.
# So it has had more time than `self` when that one has been ended.
"$RADDLE" record --no-watchdog -v -o alone.trace -- ./hang self >alone.out 2>alone.err &
alone=$!
for case in cycle self spin ended cond blocked sem barrier pipe poll; do
	record $case &
done
record timed -v &
mkfifo pipe handed
record input -v <pipe &
exec 3>pipe
record handed -v <handed &
exec 4>handed
"$RADDLE" record -v -o handler.trace -- ./hang handler >handler.out 2>handler.err &
handler=$!

# These programs only seem to hang.  They continue when the watchdog has examined them, and not
# before.
judged() { # case, judgement
	wait_for 120 grep -q "the program makes no progress, but.*$2" "$1.err" || complain "$1: was not judged: $(cat "$1.err")"
}
judged input 'no thread waits for a lock'
echo x >&3
exec 3>&-
judged handed 'it can continue'
echo x >&4
exec 4>&-
judged timed 'it can continue'
touch go
wait_for 60 grep -q ready handler.out || complain "handler: does not start: $(cat handler.err)"
judged handler 'it can continue'
kill -USR1 $handler
wait $handler || complain "a program that waits for a signal ended with $?: $(cat handler.err)"
wait_for 120 test -s self.status || complain "self: is not ended"
kill -0 $alone || complain "--no-watchdog does not leave a program alone"
grep -q 'makes no progress, but' alone.err && complain "--no-watchdog looks: $(cat alone.err)"
kill $alone
wait

# expect CASE TITLE LINE...: the run was killed, and the report has this title and these lines.
expect() {
	local case=$1 line
	shift
	[ "$(cat "$case.status")" = 137 ] || complain "$case: status $(cat "$case.status")"
	[ ! -s "$case.out" ] || complain "$case: went on: $(cat "$case.out")"
	for line in "$@"; do
		grep -qF "$line" "$case.err" || complain "$case: no '$line' in: $(cat "$case.err")"
	done
	grep -q '"stood":true' "$case.trace/meta.json" || complain "$case: meta.json does not say it"
	"$RADDLE" dump --check "$case.trace" >check 2>&1 || complain "$case: $(cat check)"
}
expect cycle 'deadlock of 2 threads (seen in the recorded run)' 'Thread T_0_0 waits for mutex first, holding second' \
	'Thread T_0 waits for mutex second, holding first' 'Mutex second taken by thread T_0_0 at:'
expect self 'deadlock of a thread with itself' 'Thread T_0 waits for mutex first, holding first'
expect spin 'deadlock of 2 threads' 'Thread T_0_0 waits for spin left, holding right'
expect ended 'deadlock of one thread that nothing wakes' 'Thread T_0 waits for mutex first, holding no lock' \
	'Thread T_0_0_0 ended without releasing first.'
expect cond 'deadlock of one thread that nothing wakes' 'Thread T_0_0 waits for a signal on news' \
	'Thread T_0 waits for the end of T_0_0 meanwhile.'
expect blocked 'deadlock of 2 threads' 'Thread T_0_0 waits for a signal on news, holding second' \
	'Thread T_0 waits for mutex second'
expect sem 'Thread T_0_0 waits for a post of tokens'
expect barrier 'Thread T_0_0 waits for all others at barrier crowd'
expect pipe 'failure to end (seen in the recorded run)' '#0 pipe_other'
expect poll 'failure to end (seen in the recorded run)' '#0 poll_other'
for case in timed input handed; do
	[ "$(cat $case.status)" = 0 ] || complain "$case: status $(cat $case.status)"
	grep -qvE '^raddle: ' $case.err && complain "$case: $(cat $case.err)"
	grep -q deadlock $case.err && complain "$case: $(cat $case.err)"
	grep -qx 'done' $case.out || complain "$case: did not go on"
done
grep -qx 'done' handler.out || complain "handler: did not go on: $(cat handler.err)"
verdict
