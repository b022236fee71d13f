# Threads that wait in loops for a timer, a signal, another process or a time limit are not livelocked.
# Threads for which nothing comes are.  A run that is ended at a limit states which one.
. "$ROOT/test/lib.sh"
shown=(err)

build_once expects cc -O1 -pthread "$ROOT/test/prog/explore/expects.c" || exit 1

# explored MODE OPTION...: explores the mode with these options.
explored() {
	local mode=$1
	shift
	rm -rf out
	"$RADDLE" explore -j 1 --all -n 4 "$@" -o out --json got.json -- ./expects $mode >out.txt 2>err </dev/null
}
# comes MODE OPTION...: the program ends, and nothing is reported.  Real time may keep a run from its
# schedule, so not every run need count.
comes() {
	explored "$@" || complain "$*: status $?"
	jq -e '.findings == [] and .stats.schedules >= 1' got.json >/dev/null ||
		complain "$*: $(jq -c '[.findings[].consequence, .stats]' got.json)"
}
modes="itimer timer timer-thread timerfd child shared sigwait limit join"
for mode in $modes; do
	comes $mode
	comes $mode --kernel-threads
done
# Real time decides how often the threads look.
explored itimer
jq -se '[.[] | select(.n != null)] | any(.unsure)' out/log >/dev/null || complain "itimer: no run is marked"
# A time limit expires at the same point each time.
for mode in limit join; do
	explored $mode
	jq -se '[.[] | select(.n != null) | .unsure] | any | not' out/log >/dev/null || complain "$mode: runs are marked"
done
# The strategy lets no time limit expire that leaves time for something outside.
comes poll -n 30
jq -se '[.[] | select(.fault)] == []' out/log >/dev/null || complain "poll: $(grep -c '"fault":"' out/log) runs failed"
# Another process creates a file.
comes "file $PWD/created" --setup "rm -f $PWD/created" --with "sleep 0.05; touch $PWD/created; sleep 5"

# Nothing comes.  A handler of SIGSEGV makes no difference.
for mode in stuck crash-handler; do
	explored $mode && complain "$mode: nothing is found"
	jq -e '[.findings[].consequence] == ["hang"]' got.json >/dev/null || complain "$mode: $(jq -c .findings got.json)"
done
# A signal may come, but no known process sends it.
explored signal && complain "signal: runs end"
grep -q 'the program waited for a signal from outside' err || complain "signal: no reason"
# When a companion ends, the program gets SIGTERM.  That is a normal end, with and without a handler.
comes signal --with 'sleep 0.05'
comes stuck --with 'sleep 0.05'
comes stuck --with 'sleep 0.05' --kernel-threads
verdict
