// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* A spin lock protects x. */
#include "case.h"

static pthread_spinlock_t spin;
static int x;
THREAD(add)
{
	UNUSED;
	pthread_spin_lock(&spin);
	x++;
	pthread_spin_unlock(&spin);
	return NULL;
}
int main(void)
{
	pthread_spin_init(&spin, 0);
	run_two(add, add);
	return x != 2;
}
