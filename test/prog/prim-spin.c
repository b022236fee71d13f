/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spin locks.  test/cli/record-prim.sh expects these events of each thread:
 *
 * HIDE: T_0_0 spin-request
 * T_0: thread-start spin-init spin-lock spin-trylock!EBUSY thread-create spin-unlock thread-join
 * T_0: spin-trylock spin-unlock spin-destroy exit
 * T_0_0: thread-start spin-lock spin-unlock thread-end
 */
#include <pthread.h>

static pthread_spinlock_t lock;

static void *other(void *unused)
{
	pthread_spin_lock(&lock);
	pthread_spin_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t t;

	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_lock(&lock);
	pthread_spin_trylock(&lock);
	pthread_create(&t, NULL, other, NULL);
	pthread_spin_unlock(&lock);
	pthread_join(t, NULL);
	pthread_spin_trylock(&lock);
	pthread_spin_unlock(&lock);
	pthread_spin_destroy(&lock);
	return 0;
}
