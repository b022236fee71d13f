// expect: attempts k-witness-harmless -
// Kind a: statistics counter beside an AB/BA deadlock between two transfers.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

struct account {
	pthread_mutex_t lock;
	int balance;
};

struct account acc[2] = {
	{PTHREAD_MUTEX_INITIALIZER, 1000},
	{PTHREAD_MUTEX_INITIALIZER, 1000},
};

long attempts; /* statistics only, never printed */

static void transfer(int from, int to, int amount)
{
	attempts++; /* racy */
	pthread_mutex_lock(&acc[from].lock);
	pthread_mutex_lock(&acc[to].lock);
	acc[from].balance -= amount;
	acc[to].balance += amount;
	pthread_mutex_unlock(&acc[to].lock);
	pthread_mutex_unlock(&acc[from].lock);
}

static void *salary(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3; i++)
		transfer(0, 1, 10);
	return NULL;
}

static void *rent(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3; i++)
		transfer(1, 0, 4);
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, salary, NULL);
	pthread_create(&b, NULL, rent, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("balances %d %d\n", acc[0].balance, acc[1].balance);
	return 0;
}
