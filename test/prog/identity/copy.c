// SPDX-License-Identifier: Apache-2.0
// objects: live.b live.e[] struct_frame.rows[]
/* Threads copy structs, by assignment and by memcpy(), while other threads write to them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct state {
	int a, b, c, d;
	long e[12];
};
struct frame {
	long width;
	int rows[40];
};

static struct state live;
static struct frame *frame;

static void *writer(void *argument)
{
	(void)argument;
	live.b++;
	live.e[7]++;
	for (int i = 0; i < 40; i++)
		frame->rows[i] = i;
	return NULL;
}

static void *copier(void *argument)
{
	static _Thread_local struct state mine;
	struct frame own;

	(void)argument;
	mine = live;
	memcpy(&own, frame, sizeof own);
	return (void *)(size_t)(mine.b + own.rows[3]);
}

int main(void)
{
	pthread_t threads[4];

	frame = calloc(1, sizeof *frame);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, i % 2 ? writer : copier, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	free(frame);
	return 0;
}
