// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b
// recorded: the first thread is done before the second begins.
/* Two threads take two spin locks in opposite orders. */
#include "case.h"

static pthread_spinlock_t a, b;
THREAD(first)
{
	UNUSED;
	pthread_spin_lock(&a);
	pthread_spin_lock(&b);
	pthread_spin_unlock(&b);
	pthread_spin_unlock(&a);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	pthread_spin_lock(&b);
	pthread_spin_lock(&a);
	pthread_spin_unlock(&a);
	pthread_spin_unlock(&b);
	return NULL;
}
int main(void)
{
	pthread_spin_init(&a, 0);
	pthread_spin_init(&b, 0);
	run_two(first, second);
	return 0;
}
