/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pthread_once(): the routine runs, has already run, is nested, and is left by pthread_exit().
 *
 * T_0: thread-start once-run once-done once-pass once-run once-pass once-done
 * T_0: thread-create thread-join once-run once-done exit
 * T_0_0: thread-start once-run once-done!EPERM thread-end
 */
#include <pthread.h>
#include <stdio.h>

static pthread_once_t first = PTHREAD_ONCE_INIT, outer = PTHREAD_ONCE_INIT, third = PTHREAD_ONCE_INIT;
static int runs;

static void routine(void)
{
	runs++;
}

static void nested(void)
{
	pthread_once(&first, routine);
}

static void leaves(void)
{
	if (runs++ == 1)
		pthread_exit(NULL);
}

static void *thread(void *unused)
{
	pthread_once(&third, leaves);
	return unused;
}

int main(void)
{
	pthread_t t;

	pthread_once(&first, routine);
	pthread_once(&first, routine);
	pthread_once(&outer, nested);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	pthread_once(&third, leaves);
	printf("%d\n", runs);
	return 0;
}
