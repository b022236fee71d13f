/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read-write locks.  test/cli/record-prim.sh expects these events of each thread:
 *
 * HIDE: T_0_0 rwlock-request
 * T_0: thread-start rwlock-init rwlock-rdlock rwlock-tryrdlock rwlock-trywrlock!EBUSY
 * T_0: rwlock-request rwlock-timedwrlock!ETIMEDOUT rwlock-unlock rwlock-unlock
 * T_0: rwlock-timedrdlock rwlock-unlock rwlock-timedrdlock!EINVAL rwlock-timedrdlock rwlock-unlock
 * T_0: rwlock-timedwrlock rwlock-unlock rwlock-timedwrlock!EINVAL
 * T_0: rwlock-wrlock rwlock-request rwlock-wrlock!EDEADLK rwlock-request rwlock-rdlock!EDEADLK
 * T_0: thread-create rwlock-unlock thread-join rwlock-trywrlock rwlock-unlock rwlock-destroy exit
 * T_0_0: thread-start rwlock-rdlock rwlock-unlock thread-end
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_rwlock_t lock;

static void *reader(void *unused)
{
	pthread_rwlock_rdlock(&lock);
	pthread_rwlock_unlock(&lock);
	return unused;
}

int main(void)
{
	struct timespec past = {1, 0}, bad = {1, -1};
	pthread_t t;

	pthread_rwlock_init(&lock, NULL);
	pthread_rwlock_rdlock(&lock);
	pthread_rwlock_tryrdlock(&lock);
	pthread_rwlock_trywrlock(&lock);
	pthread_rwlock_timedwrlock(&lock, &past);
	pthread_rwlock_unlock(&lock);
	pthread_rwlock_unlock(&lock);
	pthread_rwlock_timedrdlock(&lock, &past);
	pthread_rwlock_unlock(&lock);
	printf("%d\n", pthread_rwlock_timedrdlock(&lock, &bad));
	pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &past);
	pthread_rwlock_unlock(&lock);
	pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &past);
	pthread_rwlock_unlock(&lock);
	printf("%d\n", pthread_rwlock_clockwrlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &past));
	pthread_rwlock_wrlock(&lock);
	printf("%d\n", pthread_rwlock_wrlock(&lock));
	printf("%d\n", pthread_rwlock_rdlock(&lock));
	pthread_create(&t, NULL, reader, NULL);
	pthread_rwlock_unlock(&lock);
	pthread_join(t, NULL);
	pthread_rwlock_trywrlock(&lock);
	pthread_rwlock_unlock(&lock);
	pthread_rwlock_destroy(&lock);
	return 0;
}
