# Threads that wait in the kernel for each other run on one kernel thread.  They wait for
# descriptors, file locks and signals.  If only the program itself can end a wait, the schedules are
# the same as with a kernel thread for each thread.
. "$ROOT/test/lib.sh"
shown=(err)

"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/one/wait.c" -o wait || exit 1

# works ARGUMENTS...: no schedule fails, and all threads run on one kernel thread.
works() {
	rm -rf explored
	"$RADDLE" explore -v -j1 -n 12 --all -o explored -- "$@" >out 2>err </dev/null || complain "$*: $(cat out)"
	grep -q 'kernel thread of its own' err && complain "$*: not on one kernel thread"
	grep -q '"counts":true' explored/log || complain "$*: no run counts"
}
inside='pipe pair eventfd full stream poll select epoll limit'
for mode in $inside accept flock kill interrupt sigwait; do
	works ./wait $mode
done

# Two threads that read pipes to which no thread writes are a deadlock.
"$RADDLE" explore -v -n 12 -o explored -- ./wait hang >out 2>err </dev/null
grep -q 'deadlock of 2 threads .*confirmed' out err || complain "hang: $(cat out)"
grep -q 'kernel thread of its own' err && complain "hang: not on one kernel thread"

patterns=()
for mode in $inside hang; do
	patterns+=("wait.c $mode")
done
RADDLE_RESULTS= "$ROOT/bench/turns" --equal --raddle "$RADDLE" "${patterns[@]}" >out 2>&1 ||
	complain "$(cat out)"
grep -q '^[1-9][0-9]* schedules compared, 0 programs differ, 0 could not' out || complain "not compared: $(cat out)"

verdict
