# A program whose threads take turns has the same schedules from the same seeds, whether its threads
# run on one kernel thread or on several (bench/turns).  The short form takes every 60th program of
# the tree, the long form every 12th.
# timeout: 1800
set -u
. "$ROOT/test/lib.sh"

RADDLE_RESULTS= "$ROOT/bench/turns" --equal --raddle "$RADDLE" --every $([ -n "${RADDLE_LONG:-}" ] && echo 12 || echo 60) >out.txt 2>&1 ||
	complain "$(cat out.txt)"
grep -q '^[1-9][0-9]* schedules compared, 0 programs differ' out.txt || complain "nothing was compared: $(cat out.txt)"
verdict
