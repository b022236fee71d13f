# Threads that wait in futexes of libraries run on one kernel thread.  These are the futexes of the
# C++ library, which uses syscall(), and of libc, which are trapped.  The schedules are the same as
# with a kernel thread for each thread.
. "$ROOT/test/lib.sh"
shown=(err)

"$RADDLE" c++ -std=c++20 -O1 -g -pthread "$ROOT/test/prog/one/futex.cpp" -o futex || exit 1
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/one/wait.c" -o wait || exit 1

# explore ARGUMENTS...: explores a program, with the log in `explored`.
explore() {
	rm -rf explored
	"$RADDLE" explore -v -j1 -n 12 --all -o explored -- "$@" >out 2>err </dev/null
}
# works ARGUMENTS...: no schedule fails, and all threads run on one kernel thread.
works() {
	explore "$@" || complain "$*: $(cat out)"
	grep -q 'kernel thread of its own' err && complain "$*: not on one kernel thread"
	grep -q '"counts":true' explored/log || complain "$*: no run counts"
}
for mode in future async packaged shared timed condition once latch semaphore atomic barrier; do
	works ./futex $mode
	grep -q trapped err && complain "$mode: trapped"
done
for mode in stdio flockfile; do
	works ./wait $mode
	grep -q trapped err || complain "$mode: not trapped"
done

# A promise (std::promise) that is never fulfilled is a deadlock.
explore ./futex broken
grep -q 'deadlock of one thread that nothing wakes .*confirmed' out err || complain "broken: $(cat out)"

# So are the lock of a stream and a mutex that two threads take in different orders.
explore ./wait crossed
grep -q 'deadlock of one thread that nothing wakes .*confirmed' out err || complain "crossed: $(cat out)"
grep -q 'waits for a signal on a futex of a library' out err || complain "crossed: $(cat out)"
grep -q 'kernel thread of its own' err && complain "crossed: not on one kernel thread"
"$RADDLE" replay explored/*.schedule -- ./wait crossed >out 2>err </dev/null
grep -q 'was deadlocked' err || complain "crossed: the schedule does not lead there"

# A forked child works with the filter that traps futexes.  A program that it executes would not, so
# such runs have no filter.
works ./wait fork
grep -q trapped err || complain "fork: not trapped"
for mode in exec shell; do
	explore ./wait $mode || complain "$mode: $(cat out)"
	grep -q 'not trapped: .* it starts another program' err || complain "$mode: started with the filter"
done

RADDLE_RESULTS= "$ROOT/bench/turns" --equal --raddle "$RADDLE" futex.cpp 'wait.c stdio' 'wait.c flockfile' >out 2>&1 ||
	complain "$(cat out)"
grep -q '^[1-9][0-9]* schedules compared, 0 programs differ, 0 could not' out || complain "not compared: $(cat out)"
verdict
