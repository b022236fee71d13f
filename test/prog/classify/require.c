// SPDX-License-Identifier: Apache-2.0
/*
 * Variables for predicates (test/cli/classify-require.sh).  They are of all kinds and have known
 * values at the line marked "here".  Other marks are at synchronisation that the test leaves out.
 * The first argument selects a program.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum colour { RED, GREEN = 7, BLUE = -3 };
typedef struct point {
	int x, y;
	struct {
		short inner;
	};
	union {
		unsigned char bytes[4];
		uint32_t word;
	} both;
	unsigned low : 3;
	int high : 5;
	struct point *next;
} point_t;

static point_t points[3] = {{.x = 1, .y = -2, .inner = 9, .both = {.word = 0x04030201}, .low = 5, .high = -7},
			    {.x = 3, .y = 4},
			    {.x = 5, .y = 6}};
int shared = 40;
static int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
static _Thread_local int own = 11;
static const char *const words[] = {"zero", "one"};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t ready;
static int filled, value;

/* Two threads subtract from shared without a lock, which is the race. */
static void take(int n)
{
	int seen = shared;

	seen -= n * 10;
	shared = seen; /* take */
}

static void look(long n)
{
	static int times = 2;
	unsigned u = 3;
	signed char small = -1;
	unsigned char byte = 200;
	uint64_t wide = 1ull << 40;
	double real = 2.5;
	float half = 0.5f;
	bool yes = true;
	enum colour colour = GREEN;
	point_t copy = points[1], *p = &points[0], *none = NULL;
	int list[4] = {1, 2, 3, 4}, *at = &list[1];
	int shared_before = 1;

	p->next = &points[2];
	if (n > 100) {
		int n = 5; /* hides the argument n */
		shared_before = n;
	}
	times += copy.x + small + byte + (int)(wide >> 40) + (int)(real + half) + yes + colour + *at +
		 (none != NULL) + shared_before + (int)u; /* here */
	{
		int n = 77;

		times += n; /* inner */
	}
}

static void locked(long n)
{
	pthread_mutex_lock(&lock); /* lock */
	shared -= (int)n + 1;
	pthread_mutex_unlock(&lock);
}

static void queue(long n)
{
	if (n == 0) {
		value = 42;
		pthread_mutex_lock(&lock);
		filled = 1;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
		return;
	}
	pthread_mutex_lock(&lock); /* wait lock */
	while (!filled)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	printf("%d\n", value);
}

static void handed(long n)
{
	if (n == 0) {
		value = 42;
		sem_post(&ready);
	} else {
		sem_wait(&ready); /* sem */
		printf("%d\n", value);
	}
}

static const char *program;

static void *thread(void *argument)
{
	long n = (long)argument;

	if (!strcmp(program, "take"))
		take((int)n + 1);
	else if (!strcmp(program, "locked"))
		locked(n);
	else if (!strcmp(program, "queue"))
		queue(n);
	else
		handed(n);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	program = argc > 1 ? argv[1] : "take";
	sem_init(&ready, 0, 0);
	grid[0][0] = argc > 0;
	look(own + words[1][0] - 'o');
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, thread, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (!strcmp(program, "locked"))
		printf("%d\n", shared);
	return 0; /* end */
}
