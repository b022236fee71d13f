// SPDX-License-Identifier: Apache-2.0
/* Not deterministic: a number is computed from an address. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned slot(const void *p)
{
	return (unsigned)((uintptr_t)p >> 4) % 16;
}

static void *work(void *argument)
{
	int used[16] = {0}, most = 0;
	(void)argument;
	for (int i = 0; i < 20; i++) {
		void *p = malloc(48);
		if (++used[slot(p)] > most)
			most = used[slot(p)];
	}
	return (void *)(long)most;
}

int main(void)
{
	pthread_t t[2];
	void *r[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], &r[i]);
	return (long)r[0] + (long)r[1] > 1000;
}
