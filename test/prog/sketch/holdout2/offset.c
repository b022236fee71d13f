// SPDX-License-Identifier: Apache-2.0
/* Two threads share a descriptor: one may seek between the other's seek and read. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int fd;
static int got[2];

static void *fetch(void *number)
{
	int n = number ? 1 : 0;

	lseek(fd, n * (int)sizeof(int), SEEK_SET);
	if (read(fd, &got[n], sizeof(int)) != sizeof(int))
		got[n] = -1;
	return NULL;
}

int main(void)
{
	static const int records[2] = {10, 11};
	pthread_t a, b;
	FILE *f = tmpfile();

	fd = fileno(f);
	if (write(fd, records, sizeof records) != sizeof records)
		return 0;
	pthread_create(&a, NULL, fetch, NULL);
	pthread_create(&b, NULL, fetch, &fd);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(got[0] == 10);
	return 0;
}
