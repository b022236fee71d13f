// SPDX-License-Identifier: Apache-2.0
/* After Transmission 1818: a thread may use the session's bandwidth before main initialises it. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct bandwidth {
	int magic;
	int limit;
};

struct session {
	struct bandwidth *bandwidth;
	int running;
};

static void *event_loop(void *arg)
{
	struct session *s = arg;

	s->running = 1;
	assert(s->bandwidth);
	s->bandwidth->limit = 100;
	return NULL;
}

int main(void)
{
	struct session *s = calloc(1, sizeof *s);
	pthread_t loop;

	pthread_create(&loop, NULL, event_loop, s);
	s->bandwidth = calloc(1, sizeof *s->bandwidth);
	s->bandwidth->magic = 43;
	pthread_join(loop, NULL);
	free(s->bandwidth);
	free(s);
	return 0;
}
