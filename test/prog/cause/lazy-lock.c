// SPDX-License-Identifier: Apache-2.0
// A mutex is created when it is first needed. Two threads create one each, so both are in the critical
// section at once. Another mutex is created by double-checked locking; its counter is always right.
// expect: lazy spec-violated assertion
// expect: checked k-witness-harmless -
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t creation = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *lazy, *checked;
static int inside, count;
static pthread_mutex_t *fresh(void)
{
	pthread_mutex_t *m = malloc(sizeof *m);
	pthread_mutex_init(m, NULL);
	return m;
}
static pthread_mutex_t *get_checked(void)
{
	pthread_mutex_t *m = checked;
	if (m)
		return m;
	pthread_mutex_lock(&creation);
	if (!checked)
		checked = fresh();
	m = checked;
	pthread_mutex_unlock(&creation);
	return m;
}
static void *worker(void *arg)
{
	pthread_mutex_t *m = get_checked();
	pthread_mutex_lock(m);
	count++;
	pthread_mutex_unlock(m);
	if (!lazy)
		lazy = fresh();
	m = lazy;
	pthread_mutex_lock(m);
	assert(!inside);
	inside = 1;
	inside = 0;
	pthread_mutex_unlock(m);
	return arg;
}
int main(void)
{
	pthread_t other;
	pthread_create(&other, NULL, worker, NULL);
	worker(NULL);
	pthread_join(other, NULL);
	printf("count %d\n", count);
	return 0;
}
