# The classes of a race under memory models are the same on an idle and on a busy machine.
. "$ROOT/test/lib.sh"
shown=(out)

# Limiting processor time by control groups needs rights that CI may not have.
top=/sys/fs/cgroup/cpu
[ -d "$top" ] || top=/sys/fs/cgroup
mkdir "$top/raddle-load-test-$$" 2>/dev/null || exit 77
[ -e "$top/raddle-load-test-$$/cpu.cfs_quota_us" ] || [ -e "$top/raddle-load-test-$$/cpu.max" ] || no=1
rmdir "$top/raddle-load-test-$$"
[ -z "${no-}" ] || exit 77

RADDLE_RESULTS='' RADDLE_BENCH_DIR=$PWD "$ROOT/bench/load" --only message --times 1 --share 25 >out 2>&1 || complain "the verdicts differ"
grep -q '2 of 2 verdicts are the same' out || complain "not compared"
verdict
