// expect: progress output-differs output
// Kind e: the monitor samples progress without a lock and the sample is
// printed; importer and exporter have an unrelated lock-order deadlock.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

#define ROWS 5

pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;
int moved;    /* guarded by both locks */
int progress; /* written by the importer only */
int snapshot; /* monitor writes, main reads after join */

static void *importer(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROWS; i++) {
		pthread_mutex_lock(&table_lock);
		pthread_mutex_lock(&file_lock);
		moved++;
		pthread_mutex_unlock(&file_lock);
		pthread_mutex_unlock(&table_lock);
		progress = i + 1; /* racy write */
	}
	return NULL;
}

static void *exporter(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROWS; i++) {
		pthread_mutex_lock(&file_lock);
		pthread_mutex_lock(&table_lock);
		moved++;
		pthread_mutex_unlock(&table_lock);
		pthread_mutex_unlock(&file_lock);
	}
	return NULL;
}

static void *monitor(void *arg)
{
	(void)arg;
	snapshot = progress; /* racy read */
	return NULL;
}

int main(void)
{
	pthread_t i, e, m;
	pthread_create(&i, NULL, importer, NULL);
	pthread_create(&m, NULL, monitor, NULL);
	pthread_create(&e, NULL, exporter, NULL);
	pthread_join(i, NULL);
	pthread_join(m, NULL);
	pthread_join(e, NULL);
	printf("moved %d, progress seen %d of %d\n", moved, snapshot, ROWS);
	return 0;
}
