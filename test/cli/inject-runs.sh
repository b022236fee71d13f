# Runs with a fault stay within their limits and their directory: input, output files, memory, time,
# files, processes left behind.  A program that is not the same in each run is rejected.
. "$ROOT/test/lib.sh"
"$RADDLE" cc -g -O1 -pthread -o runs "$ROOT/test/prog/inject-runs.c" || exit 1
shown=(err.txt out.txt)
# one BIT MODE ARGUMENT [OPTIONS]: flips a bit of the value that target() reads.
one() {
	bit=$1 mode=$2 argument=$3
	shift 3
	"$RADDLE" inject -f -o one --fault BitFlip --function target --opcode load --instance 1 --bit "$bit" "$@" -- ./runs "$mode" "$argument" \
		>out.txt 2>err.txt || fail "$mode $argument could not be injected into"
	outcome=$(jq -r .outcome one/log)
	[ "$(jq -r .fired one/log)" = true ] || fail "$mode: the fault did not happen"
}

mkdir data
seq 10 >data/numbers
echo 1000 >input
one 2 file data/numbers --input data/numbers --stdin input
[ "$outcome" = sdc ] || fail "another result is $outcome"
[ "$(cat one/golden/files/result)" = 1055 ] || fail "input was not read: $(cat one/golden/files/result)"
[ "$(jq -r .diff one/log)" = runs/0/file.diff ] && grep -q '^-1055' one/runs/0/file.diff && grep -q '^+1051' one/runs/0/file.diff ||
	fail "no diff of a file"
[ "$(cat data/numbers)" = "$(seq 10)" ] && [ ! -e result ] || fail "it wrote where it should not"
cp data/numbers numbers
one 2 file numbers --input "$PWD/data/numbers" --stdin input
[ "$outcome" = sdc ] || fail "an input by its last part: $outcome"
[ ! -s err.txt ] || fail "a warning"
rm numbers
one 2 file data/numbers --input data/numbers --stdin input --ignore 'res*'
[ "$outcome" = masked ] || fail "a file that is ignored: $outcome"
one 2 file data/numbers --input data/numbers --stdin input --filter 'tr -d 0-9'
[ "$outcome" = masked ] || fail "a filter: $outcome"

# A wrong value that is not used is not a deviation.  One that is used without effect is a
# deviation.
one 2 waste 1 --function waste
[ "$outcome $(jq -r .deviation one/log)" = "masked none" ] || fail "a value that is not used: $(cat one/log)"
one 3 grow 1 --ignore '*'
[ "$outcome $(jq -r .deviation one/log)" = "masked data" ] || fail "a value that is used: $(cat one/log)"

one 31 spin 10
[ "$outcome" = hang ] || fail "counting to two thousand million is $outcome"
one 20 sleep 3
[ "$outcome" = hang ] || fail "waiting forever is $outcome"
one 12 grow 2 --memory 100M
[ "$outcome $(jq .exit one/log)" = "detected 3" ] || fail "too much memory is $outcome"
one 20 write 4 --file-size 1M
case $outcome in crash | detected) ;; *) fail "too large a file is $outcome" ;; esac
one 3 check 5
[ "$outcome $(jq -r .signal one/log)" = "detected SIGABRT" ] || fail "abort() is $outcome"
find . -name 'core*' | grep . && fail "a core dump"
one 3 fork 5
[ "$outcome" = sdc ] || fail "another output is $outcome"
for process in /proc/[0-9]*/cwd; do
	case $(readlink "$process") in "$PWD"/*) fail "a process is left behind" ;; esac
done

# The number of processes is limited for a program that forks again and again, if the system allows
# that.  All its processes are ended afterwards.  The limit is below the nine children of the first
# process, which does not wait for any of them.  So one of its own forks fails in any order.
group=/sys/fs/cgroup/pids$(awk -F: '$2 == "pids" { print $3 }' /proc/self/cgroup)
if [ -e "$group/cgroup.procs" ] && mkdir "$group/raddle-test-$$" 2>/dev/null; then
	rmdir "$group/raddle-test-$$"
	one 3 bomb 1 --processes 8
	[ "$outcome $(jq .exit one/log)" = "detected 5" ] || fail "forking on and on is $outcome"
	for process in /proc/[0-9]*/cwd; do
		case $(readlink "$process") in "$PWD"/*) fail "a process of many is left behind" ;; esac
	done
fi

"$RADDLE" inject -q --fault BitFlip -- ./runs check input >out.txt 2>err.txt
grep -q 'input is a file here' err.txt || fail "no warning about a file that the runs do not have"
"$RADDLE" inject --fault BitFlip -- ./runs clock >out.txt 2>err.txt && fail "took a program that says the time"
[ "$(grep -c . err.txt)" = 1 ] && grep -q 'two runs without a fault differ' err.txt || fail "no clear message"
"$RADDLE" inject -n 2 --fault BitFlip --allow-nondeterminism -o clock -- ./runs clock >out.txt 2>err.txt || fail "--allow-nondeterminism"
[ "$(jq .forced clock/campaign.json)" = true ] || fail "campaign.json does not say that it was forced"
# A program whose output depends on the schedule is refused before faults are injected, unless that
# is allowed.  If only the waits depend on the schedule, it is accepted.
cat >order.c <<'END'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int turns;
static void *count(void *last)
{
	pthread_mutex_lock(&mutex);
	*(int *)last = ++turns;
	pthread_mutex_unlock(&mutex);
	return NULL;
}
int main(void)
{
	int last[2];
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, count, &last[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	dprintf(2, "%d\n", turns);
	return 0;
}
END
"$RADDLE" cc -g -O1 -pthread -o order order.c || exit 1
"$RADDLE" inject --golden 1 --fault BitFlip -- ./order >out.txt 2>err.txt && fail "took a program that the schedule decides"
grep -q 'the schedule can change what the program does with turns (' err.txt || fail "no clear message about the schedule"
"$RADDLE" inject --golden 1 --fault BitFlip --allow-nondeterminism -o order.dir -- ./order >out.txt 2>err.txt || fail "not allowed"
[ "$(jq -r .reversible order.dir/campaign.json) $(jq -r .aslr order.dir/campaign.json)" = "no false" ] || fail "campaign.json does not say so"
# Standard error is compared if --stderr is given.
for errors in '' --stderr; do
	"$RADDLE" inject -f --golden 1 --allow-nondeterminism --fault BitFlip --opcode load --line "order.c:$(grep -n dprintf order.c | cut -d: -f1)" --bit 4 $errors -o order.dir -- ./order >out.txt 2>err.txt || fail "standard error"
	outcome=$(jq -r .outcome order.dir/log)
	[ "$outcome" = "$([ -n "$errors" ] && echo sdc || echo masked)" ] || fail "standard error $errors: $outcome"
done
"$RADDLE" inject -q --fault BitFlip -- ./runs check 4 >out.txt 2>err.txt && fail "took a program that aborts by itself"
grep -q 'ended by signal 6 without a fault' err.txt || fail "no clear message about that"

# A user can interrupt a program that does not end, and no files or processes are left.
"$RADDLE" cc -g -x c -o forever - <<<'#include <unistd.h>
int main(void) { for (;;) pause(); }' || exit 1
mkdir temporary
TMPDIR=$PWD/temporary timeout 60 "$RADDLE" inject --fault BitFlip -- ./forever >out.txt 2>err.txt &
job=$!
for ((i = 0; i < 300; i++)); do
	[ -e temporary/*/scratch/golden ] 2>/dev/null && pgrep -P "$(pgrep -P $job)" >/dev/null && break
	sleep 0.1
done
kill "$(pgrep -P $job)"
wait $job
[ $? = 2 ] && grep -q 'interrupted' err.txt || fail "it was not interrupted"
[ -z "$(ls temporary)" ] || fail "left $(ls temporary)"
exit 0
