/*
 * Long runs of random programs, for runs that continue from the middle (test/cli/snapshots.sh).
 *
 *   deep SEED        six threads, which do what the seed determines
 *   deep SEED pipe   the same; one thread makes a pipe, which copies would share
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 6
#define STEPS 240
#define LOCKS 3

static pthread_mutex_t locks[LOCKS];
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t tokens;
static unsigned long start;
static int makes_pipe, shared[LOCKS], plain, late;
static __thread int own;

static unsigned draw(unsigned long *state)
{
	*state = *state * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)(*state >> 33);
}

static void *helper(void *context)
{
	pthread_mutex_lock(&locks[0]);
	shared[0] += *(int *)context;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&locks[0]);
	return NULL;
}

static void help(int amount)
{
	pthread_t t;

	pthread_create(&t, NULL, helper, &amount);
	pthread_join(t, NULL);
}

static void add(unsigned which)
{
	pthread_mutex_lock(&locks[which]);
	shared[which]++;
	pthread_mutex_unlock(&locks[which]);
}

static void step(unsigned what)
{
	switch (what % 16) {
	case 0:
		if (what / 16 % 8 == 0)
			help((int)what % 7);
		break;
	case 1: sched_yield(); break;
	case 2: sem_post(&tokens); break;
	case 3: own += sem_trywait(&tokens) == 0; break;
	case 4: free(malloc(1 + what % 100)); break;
	case 5: plain = own++; break;
	case 6: own += plain; break;
	default: add(what % LOCKS);
	}
}

static void *work(void *context)
{
	unsigned long state = start + (unsigned long)context;
	int ends[2];

	if (makes_pipe && !context && pipe(ends))
		abort();
	for (int i = 0; i < STEPS; i++)
		step(draw(&state));
	/* What follows is new only in some schedules. */
	if (shared[0] % 3 == (int)(unsigned long)context)
		late = own;
	for (int i = 0; i < STEPS / 3; i++)
		step(draw(&state) + (unsigned)late);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	start = argc > 1 ? strtoul(argv[1], NULL, 10) * 1000003 : 1;
	makes_pipe = argc > 2 && !strcmp(argv[2], "pipe");
	sem_init(&tokens, 0, 1);
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&locks[i], NULL);
	for (unsigned long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d %d %d %d %d\n", shared[0], shared[1], shared[2], plain, late);
	return 0;
}
