// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* Two threads take two spin locks in the same order. */
#include "case.h"

static pthread_spinlock_t a, b;
THREAD(both)
{
	UNUSED;
	pthread_spin_lock(&a);
	pthread_spin_lock(&b);
	pthread_spin_unlock(&b);
	pthread_spin_unlock(&a);
	return NULL;
}
int main(void)
{
	pthread_spin_init(&a, 0);
	pthread_spin_init(&b, 0);
	run_two(both, both);
	return 0;
}
