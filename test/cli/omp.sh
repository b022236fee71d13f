# OpenMP: accesses that libomp orders are not races, and accesses that it leaves unordered are
# found.  The long form checks all programs.  The short one checks some of each kind, with fewer
# replays where nothing may be confirmed.
. "$ROOT/test/lib.sh"

shown=(err)
for name in fine racy; do
	"$RADDLE" cc -g -O1 -fopenmp "$ROOT/test/prog/omp/$name.c" -o $name || fail "$name"
done
if [ -n "${RADDLE_LONG-}" ]; then
	fine=$(seq 0 $(($(./fine) - 1)))
	racy=$(seq 0 $(($(./racy) - 1)))
else
	fine='0 2 4 8 15 18 21 22 24' # loops, reductions, critical, barriers, locks, ordered, tasks, dependences
	racy='0 2 5 8 15 16'
fi

for i in $fine; do
	"$RADDLE" check --no-classify --time 20 -o "fine-$i" -- ./fine "$i" >out 2>err || complain "fine $i: status $?"
	grep -q 'Raddle: no bug confirmed' err || complain "fine $i: something is confirmed"
	[ "$(cat out)" = "$(./fine "$i")" ] || complain "fine $i prints $(cat out)"
done

# One race may be missed, because libomp decides which thread does a task.
missed=
for i in $racy; do
	"$RADDLE" check --no-classify --time 20 -o "racy-$i" -- ./racy "$i" >out 2>err
	[ $? = 1 ] && grep -q 'data race on' err && continue
	# If one thread did all tasks, that run cannot show the race.  A user would ask for more
	# runs.
	"$RADDLE" check --no-classify --time 60 --runs 4 -o "racy-$i-again" -- ./racy "$i" >out 2>err
	[ $? = 1 ] && grep -q 'data race on' err || missed="$missed $i"
done
[ "$(wc -w <<<"$missed")" -le 1 ] || complain "not found: racy$missed"

# A run that is killed leaves no shared memory of libomp behind.
cat >killed.c <<'EOF'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	int n = 0;
#pragma omp parallel num_threads(2) reduction(+ : n)
	n++;
	printf("%d %s\n", (int)getpid(), n == 2 ? "ran" : "alone");
	fflush(stdout);
	return raise(SIGKILL);
}
EOF
"$RADDLE" cc -g -O1 -fopenmp killed.c -o killed || fail "killed"
"$RADDLE" record -o killed.trace -- ./killed >out 2>err
read -r pid ran <out
[ "$ran" = ran ] || complain "killed: $(cat out)"
ls /dev/shm/__KMP_REGISTERED_LIB_"$pid"_* >/dev/null 2>&1 && complain "libomp's shared memory is left"

# If libomp may not report its synchronisation, that information is missing.  The report says so,
# and nothing is confirmed.
OMP_TOOL=disabled "$RADDLE" check --no-classify --time $([ -n "${RADDLE_LONG-}" ] && echo 10 || echo 2) -o silent -- ./fine 0 >out 2>err || complain "without the interface: status $?"
grep -q 'Raddle: no bug confirmed' err || complain "without the interface something is confirmed"
verdict
