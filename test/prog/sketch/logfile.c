// SPDX-License-Identifier: Apache-2.0
/* After MySQL's binary log: it is briefly closed during rotation, and an entry written at that
 * moment is lost. */
#include <pthread.h>
#include <stdio.h>

static int open_log = 1, written;

static void *rotate(void *unused)
{
	open_log = 0;
	open_log = 1;
	return unused;
}

static void *append(void *unused)
{
	if (open_log)
		written = 1;
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, rotate, NULL);
	pthread_create(&b, NULL, append, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts(written ? "entry" : "no entry");
	return 0;
}
