# A campaign on a real Slurm cluster has the same results as on this machine.  Lost jobs are
# submitted again.  An interrupted campaign leaves no jobs behind and can be resumed.
. "$ROOT/test/lib.sh"

source "$ROOT/test/prog/slurm.bash"
start_slurm "$PWD/slurm" || exit
raddle=
finally '[ $failures = 0 ] || squeue --states=all; kill $raddle 2>/dev/null; stop_slurm'

shown=(out err)

# facts DIRECTORY: prints what was injected in the runs of a log, in order.  The consequences of a
# wild pointer may differ.
facts() {
	jq -cS '[.run, .fault, .thread, .where, .instance, .plan, .fired]' "$1/log" | sort
}

# held_job: waits until a job is held, and prints its number.
held_job() {
	local job
	for _ in $(seq 1000); do
		job=$(squeue --noheader --states=PENDING --format=%F | sort -nu | tail -n 1)
		[ -n "$job" ] && [ "$job" != "${1:-}" ] && echo "$job" && return
		sleep 0.2
	done
	return 1
}

cat >prog.c <<'END'
#include <pthread.h>
#include <stdio.h>
static int sums[2];
static void *work(void *argument)
{
	int *sum = argument;
	for (int i = 0; i < 20; i++)
		*sum += i;
	return NULL;
}
int main(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &sums[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%d %d\n", sums[0], sums[1]);
	return 0;
}
END
"$RADDLE" cc -g -o prog prog.c -lpthread >out 2>&1 || fail 'the program was not built'
inject() { # directory options...
	local dir=$1
	shift
	"$RADDLE" inject --seed 7 -n 6 --fault BitFlip,CallCorr -o "$dir" "$@" -- ./prog >out 2>err
}
begin() { # directory options...
	local dir=$1
	shift
	"$RADDLE" inject --seed 7 -n 6 --fault BitFlip,CallCorr -o "$dir" "$@" -- ./prog >out 2>err &
	raddle=$!
}

inject here -j 2 || fail 'the campaign failed'
inject there --executor slurm --shards 3 --slurm-options='--comment="two words"' || fail 'the campaign failed on Slurm'
[ "$(facts here)" = "$(facts there)" ] || fail 'the campaigns differ'
[ "$(facts there | wc -l)" = 12 ] || fail 'runs are missing'
[ "$(cat there/slurm/*.status)" = $'0\n0\n0' ] || fail 'not all shards ran'
ls there/log.* 2>/dev/null && fail 'the logs were not put together'

# Task 1 is cancelled before it starts, and is submitted again.
begin lost --executor slurm --shards 3 --slurm-options=--hold
job=$(held_job) || fail 'there is no job'
scancel "${job}_1"
scontrol release "$job"
again=$(held_job "$job") || fail 'the lost task was not submitted again'
squeue --noheader --array --job "$again" --format=%K >tasks
scontrol release "$again"
wait $raddle || fail 'the campaign with a lost task failed'
[ "$(cat tasks)" = 1 ] || fail 'other tasks were submitted again'
grep -q '1 of 3 shards failed and are submitted again' err || fail 'nothing was said'
[ "$(facts here)" = "$(facts lost)" ] || fail 'the campaign with a lost task differs'

# The campaign is interrupted while the jobs wait.
begin stopped --executor slurm --shards 2 --slurm-options=--hold
held_job >/dev/null || fail 'there is no job'
kill -TERM $raddle
wait $raddle
[ $? = 2 ] || fail 'the status is not 2'
grep -q 'the jobs are cancelled; --resume stopped continues' err || fail 'nothing was said about resuming'
[ -z "$(squeue --noheader --states=PENDING,RUNNING)" ] || fail 'jobs are left'
"$RADDLE" inject --resume stopped >out 2>err || fail 'it did not go on'
[ "$(facts here)" = "$(facts stopped)" ] || fail 'the resumed campaign differs'

# Schedules of an exploration also run on a cluster.
"$RADDLE" explore -q -n 80 -o explored --executor slurm --shards 2 --json explored.json -- ./prog </dev/null >out 2>err || fail 'exploring on a cluster'
jq -e '.stats.schedules == 80' explored.json >/dev/null || fail "explored: $(jq -c .stats explored.json)"
[ "$(cat explored/log.0 explored/log.1 | jq 'select(.n) | .n' | sort -n | paste -sd ' ')" = "$(seq -s ' ' 54 79)" ] || fail 'what the shards ran'

# If Slurm refuses something, its reason is passed on.  Invalid options are refused.
inject refused --executor slurm --slurm-options=--partition=absent && fail 'a partition that is not there was taken'
grep -q 'sbatch refused the jobs: .*partition' err || fail 'the reason is not said'
inject wrong --executor batch && fail 'an unknown executor was taken'
inject wrong --shards 3 && fail '--shards was taken without --executor slurm'
exit 0
