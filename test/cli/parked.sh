# On one kernel thread, threads that end are kept, and threads are made before the program creates
# them (rt/steer/park.c).  The program does not notice, and its schedules are those that it has with
# a kernel thread for each thread.
. "$ROOT/test/lib.sh"
shown=(err)

"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/explore/parked.c" -o parked -lm || exit 1

# trails OPTION MODE: a line for each schedule that real time did not influence.
trails() {
	rm -rf out
	"$RADDLE" explore -v -j 1 -n 14 --all $1 -o out -- ./parked "$2" >out.txt 2>err </dev/null || complain "$2 $1: status $?"
	jq -r 'select(.n != null and (.unsure | not)) | "\(.n) \(.trail) \(.choices) \(.status)"' out/log | sort
}
for mode in results cancelled tried c11 serial rounding attributes main; do
	trails "" $mode >one
	grep -q 'kernel thread of its own' err && complain "$mode: $(grep 'kernel thread' err)"
	grep -q ' 0$' one || complain "$mode: no run ended"
	trails --kernel-threads $mode >kernel
	join one kernel | awk '$2 != $5' >differ
	[ -s differ ] && complain "$mode: other schedules: $(cat differ)"
done
verdict
