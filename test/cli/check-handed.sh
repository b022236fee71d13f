# Data handed over between threads through stdio on a pipe, a descriptor that is printed to, a
# message queue, a System V semaphore or a signal is ordered: no race is even predicted.  An access
# by the giving thread after the hand-over is a race, and is confirmed.
. "$ROOT/test/lib.sh"

"$RADDLE" cc -D_GNU_SOURCE -O1 -g -pthread "$ROOT/test/prog/handed.c" -o handed || exit 1
shown=(err)

# found WANTED FILTER ARGUMENTS...
found() {
	local wanted=$1 filter=$2 got
	shift 2
	"$RADDLE" check --no-classify --time 60 --json found.json -- ./handed "$@" >out 2>err
	got=$?
	[ $got = "$wanted" ] || complain "handed $*: status $got instead of $wanted"
	jq -e "$filter" found.json >/dev/null || complain "handed $*: $(cat found.json)"
}

ways='stdio dprintf queue semaphore signal'
[ -z "${RADDLE_LONG-}" ] || ways+=' unlocked splice messages'
for way in $ways; do
	found 0 '.findings == []' $way
	found 1 '[.findings[] | select(.status == "confirmed" and .object == "message")] | length == 1' $way late
done
verdict
