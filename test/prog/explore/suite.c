// SPDX-License-Identifier: Apache-2.0
/*
 * A cmocka test suite in which one case fails if both threads read before either writes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;

static int get(void)
{
	int copy;

	pthread_mutex_lock(&lock);
	copy = value;
	pthread_mutex_unlock(&lock);
	return copy;
}

static void *set(void *argument)
{
	int copy = get();

	pthread_mutex_lock(&lock);
	value = copy + 1;
	pthread_mutex_unlock(&lock);
	return argument;
}

static void *add(void *argument)
{
	pthread_mutex_lock(&lock);
	value++;
	pthread_mutex_unlock(&lock);
	return argument;
}

static int run_two(void *(*run)(void *))
{
	pthread_t threads[2];

	value = 0;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return value;
}

static void test_add(void **state)
{
	(void)state;
	assert_int_equal(run_two(add), 2);
}

static void test_set(void **state)
{
	(void)state;
	assert_int_equal(run_two(set), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_add), cmocka_unit_test(test_set)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
