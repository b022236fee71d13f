// SPDX-License-Identifier: Apache-2.0
/*
 * A race on `data` that comes about only if a read that races with another thread finds what it found in the
 * recorded run.  From the second run on, which the file "seen" tells, the write is late.
 */
#include <pthread.h>
#include <unistd.h>

static int mode, data;

static void *look(void *unused)
{
	usleep(50000);
	if (mode)
		data = 1;
	return unused;
}

int main(void)
{
	pthread_t looker;

	pthread_create(&looker, NULL, look, NULL);
	if (access("seen", F_OK) == 0)
		usleep(500000);
	mode = 1;
	data = 2;
	pthread_join(looker, NULL);
	return 0;
}
