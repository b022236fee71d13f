// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: main polls until the first thread has ended, then starts the second.
/* As in sections-race.c, but with C11's threads and mutex. */
#include "case.h"
#include <threads.h>

static mtx_t m;
static int x, y;
static int first(void *argument)
{
	UNUSED;
	x = 1;
	mtx_lock(&m);
	y = 1;
	mtx_unlock(&m);
	return 0;
}
static int second(void *argument)
{
	UNUSED;
	mtx_lock(&m);
	y = 2;
	mtx_unlock(&m);
	x = 2;
	return 0;
}
int main(void)
{
	thrd_t a, b;

	mtx_init(&m, mtx_plain);
	thrd_create(&a, first, NULL);
	settle();
	thrd_create(&b, second, NULL);
	thrd_join(a, NULL);
	thrd_join(b, NULL);
	return x + y == 0;
}
