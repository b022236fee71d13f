# Threads that libc creates for itself, here for a timer, have names like others, and replays
# control them.
. "$ROOT/test/lib.sh"

cat >ticks.c <<'EOF'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int ticks, seen;
static void tick(union sigval unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	ticks++;
	pthread_cond_signal(&more);
	pthread_mutex_unlock(&lock);
}
int main(int argc, char **argv)
{
	struct sigevent how = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick};
	struct itimerspec when = {{0, 1000000}, {0, 1000000}};
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &how, &timer) || timer_settime(timer, 0, &when, NULL))
		abort();
	if (argc > 1)
		seen = ticks; /* without the lock */
	pthread_mutex_lock(&lock);
	while (ticks < 2)
		pthread_cond_wait(&more, &lock);
	pthread_mutex_unlock(&lock);
	timer_delete(timer);
	return argc > 2 && argv && seen;
}
EOF
"$RADDLE" cc -O1 -g -pthread ticks.c -o ticks || exit 1
shown=(err)

"$RADDLE" check --no-classify --time 60 --json found.json -- ./ticks >out 2>err || complain "status $? without a race"
jq -e '[.findings[] | select(.status == "confirmed")] == []' found.json >/dev/null || complain "confirmed: $(cat found.json)"

"$RADDLE" check --no-classify --time 60 --json found.json -- ./ticks early >out 2>err
[ $? = 1 ] || complain "the race is not confirmed"
jq -e '[.findings[] | select(.status == "confirmed" and .kind == "race" and .object == "ticks" and
	([.accesses[].thread] | any(test("^T_[1-9]"))))] | length >= 1' found.json >/dev/null || complain "$(cat found.json)"
verdict
