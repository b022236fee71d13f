// The content of a scratch file depends on the order of the threads, but the file is removed.
// expect: first k-witness-harmless -
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static long first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *run(void *arg)
{
	pthread_mutex_lock(&lock);
	count++;
	pthread_mutex_unlock(&lock);
	first = (long)arg;
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	FILE *f;

	pthread_create(&a, NULL, run, (void *)1L);
	pthread_create(&b, NULL, run, (void *)2L);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	f = fopen("scratch.tmp", "w");
	if (!f)
		return 2;
	fprintf(f, "%ld\n", first);
	fclose(f);
	unlink("scratch.tmp");
	printf("%d\n", count);
	return 0;
}
