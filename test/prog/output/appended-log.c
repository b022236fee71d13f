// Each run adds lines to a log.  The lines of earlier runs are not output of this run, and the race on
// the number of hints, which is never read, has no effect.
// expect: hints k-witness-harmless -
#include <pthread.h>
#include <stdio.h>

static unsigned hints;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int lines;

static void *work(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	lines++;
	pthread_mutex_unlock(&lock);
	hints++;
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	FILE *f;

	pthread_create(&a, NULL, work, NULL);
	pthread_create(&b, NULL, work, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	f = fopen("work.log", "a");
	if (!f)
		return 2;
	fprintf(f, "%d lines\n", lines);
	fclose(f);
	return 0;
}
