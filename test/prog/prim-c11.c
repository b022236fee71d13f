/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C11 threads.  test/cli/record-prim.sh expects these events, and ignores those after HIDE:
 *
 * HIDE: T_0_0 mutex-request
 * HIDE: T_0_1 thread-start
 * T_0: thread-start mutex-init mutex-lock mutex-trylock!EBUSY mutex-request mutex-timedlock!ETIMEDOUT
 * T_0: cond-init cond-signal cond-wait cond-wake!ETIMEDOUT once-run once-done once-pass
 * T_0: thread-create cond-wait cond-wake mutex-unlock thread-join
 * T_0: thread-create thread-detach cond-destroy mutex-destroy exit
 * T_0_0: thread-start mutex-lock cond-broadcast mutex-unlock thread-end
 */
#include <stdio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static mtx_t mutex;
static cnd_t cond;
static once_flag flag = ONCE_FLAG_INIT;
static int ready;

static void once(void)
{
	ready = 0;
}

static int thread(void *unused)
{
	(void)unused;
	mtx_lock(&mutex);
	ready = 1;
	cnd_broadcast(&cond);
	mtx_unlock(&mutex);
	return 42;
}

static int sleeper(void *unused)
{
	pause();
	return unused != NULL;
}

int main(void)
{
	struct timespec past = {1, 0};
	thrd_t t;
	int result;

	mtx_init(&mutex, mtx_timed);
	mtx_lock(&mutex);
	mtx_trylock(&mutex);
	mtx_timedlock(&mutex, &past);
	cnd_init(&cond);
	cnd_signal(&cond);
	cnd_timedwait(&cond, &mutex, &past);
	call_once(&flag, once);
	call_once(&flag, once);
	thrd_create(&t, thread, NULL);
	while (!ready)
		cnd_wait(&cond, &mutex);
	mtx_unlock(&mutex);
	thrd_join(t, &result);
	printf("%d\n", result);
	thrd_create(&t, sleeper, NULL);
	thrd_detach(t);
	cnd_destroy(&cond);
	mtx_destroy(&mutex);
	return 0;
}
