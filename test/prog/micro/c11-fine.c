// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the consumer waits before the producer begins.
/* Like cond-fine.c and once-fine.c, but with C11's threads, mutex, condition and once flag. */
#include "case.h"
#include <threads.h>

static mtx_t m;
static cnd_t c;
static once_flag once = ONCE_FLAG_INIT;
static int ready, x, table;
static void fill(void)
{
	table = 7;
}
static int consume(void *argument)
{
	UNUSED;
	call_once(&once, fill);
	mtx_lock(&m);
	while (!ready)
		cnd_wait(&c, &m);
	mtx_unlock(&m);
	return x == table ? 0 : 1;
}
static int produce(void *argument)
{
	UNUSED;
	call_once(&once, fill);
	x = table;
	mtx_lock(&m);
	ready = 1;
	cnd_signal(&c);
	mtx_unlock(&m);
	return 0;
}
int main(void)
{
	thrd_t a, b;

	mtx_init(&m, mtx_plain);
	cnd_init(&c);
	thrd_create(&a, consume, NULL);
	settle();
	thrd_create(&b, produce, NULL);
	thrd_join(a, NULL);
	thrd_join(b, NULL);
	return 0;
}
