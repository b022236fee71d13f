// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the first thread has released the spin lock before the second takes it.
/* The recorded order of two sections of a spin lock hides the race. */
#include "case.h"

static pthread_spinlock_t spin;
static int x, y;
THREAD(first)
{
	UNUSED;
	x = 1;
	pthread_spin_lock(&spin);
	y = 1;
	pthread_spin_unlock(&spin);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	pthread_spin_lock(&spin);
	y = 2;
	pthread_spin_unlock(&spin);
	x = 2;
	return NULL;
}
int main(void)
{
	pthread_spin_init(&spin, 0);
	run_two(first, second);
	return x + y == 0;
}
