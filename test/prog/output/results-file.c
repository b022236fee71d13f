// The program writes the larger of two results to a file when it ends.  No lock protects the comparison
// and the store, so the larger result can be lost.
// expect: best output-differs -
#include <pthread.h>
#include <stdio.h>

static long best;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int jobs;

static void *search(void *arg)
{
	long result = (long)arg;

	pthread_mutex_lock(&lock);
	jobs++;
	pthread_mutex_unlock(&lock);
	if (result > best)
		best = result;
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	FILE *f;

	pthread_create(&a, NULL, search, (void *)40L);
	pthread_create(&b, NULL, search, (void *)70L);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	f = fopen("results.txt", "w");
	if (!f)
		return 2;
	fprintf(f, "%d jobs\nbest %ld\n", jobs, best);
	fclose(f);
	puts("done");
	return 0;
}
