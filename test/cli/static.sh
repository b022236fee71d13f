# A statically linked program is recorded like any other: same output, same status, and its threads
# and locks are in the trace.  (The program's third lock is shared only if the schedule gives work
# to two threads, so the summary need not show it.)
set -eu

"$RADDLE" cc -O2 -pthread -static "$ROOT/examples/queue.c" -o queue
file queue | grep -q 'statically linked'
"$RADDLE" record -o trace -- ./queue 2>/dev/null >out
[ "$(cat out)" = "64 jobs, 28874 primes" ] || { cat out; exit 1; }
"$RADDLE" dump --check trace >check || { cat check; exit 1; }
"$RADDLE" dump --summary trace >summary
for name in queue.lock queue.not_empty queue.not_full T_0_2; do
	grep -qF "  $name " summary || { echo "no $name in:"; cat summary; exit 1; }
done
