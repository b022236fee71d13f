# The clock of a controlled run (rt/steer/clock.c) depends on the schedule alone.  So programs whose path
# depends on the time, and programs that print how long they took, make the same runs each time.
. "$ROOT/test/lib.sh"
shown=(err)

build_once clock cc -O1 -pthread "$ROOT/test/prog/explore/clock.c" || exit 1

# runs MODE OPTION...: explores, and prints a line for each schedule.
runs() {
	local mode=$1
	shift
	rm -rf out
	"$RADDLE" explore -v -j 1 --all -n 6 "$@" -o out -- ./clock "$mode" >out.txt 2>err </dev/null ||
		complain "$mode $*: status $?"
	jq -r 'select(.n != null) | "\(.n) \(.trail) \(.choices) \(.status) \(.counts) \(.unsure)"' out/log | sort -n
}

for mode in branch poll sleep absolute wait watch; do
	runs $mode >copied
	grep 'kernel thread\|anew' err && complain "$mode: $(grep 'kernel thread\|anew' err)"
	[ "$(grep -c ' false$' copied)" = 6 ] && grep -q ' 0 true ' copied || complain "$mode: $(cat copied)"
	grep ' [1-9][0-9]* true ' copied && complain "$mode: a deadline has passed"
	runs $mode --no-snapshots | cmp -s - copied || complain "$mode: runs from the start differ"
	runs $mode --kernel-threads | cmp -s - copied || complain "$mode: runs with kernel threads differ"
done
# No schedule keeps a thread from its work for so long that a deadline passes.
runs watch -n 40 >/dev/null
# The output of the default schedule is the same, too.
for _ in 1 2 3; do
	"$RADDLE" explore -q -n 1 --fail-if 'cat >>texts; false' -o out -- ./clock branch >out.txt 2>err </dev/null
done
[ "$(sort -u texts | wc -l)" = 1 ] || complain "the output differs: $(cat texts)"
# A child takes real time.
runs child | grep -q ' 0 true ' || complain "child: no run counts"
runs child --kernel-threads | grep -q ' 0 true ' || complain "child: no run counts"
verdict
