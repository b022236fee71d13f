// Two threads count in a file that is mapped into memory, without a lock.
// expect: stats output-differs -
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct stats {
	char magic[8];
	unsigned total;
};

static struct stats *stats;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;

static void *count(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	ready++;
	pthread_mutex_unlock(&lock);
	stats->total = stats->total * 10 + '0';
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	int fd = open("stats.bin", O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof *stats))
		return 2;
	stats = mmap(NULL, sizeof *stats, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (stats == MAP_FAILED)
		return 2;
	stats->total = 1;
	pthread_create(&a, NULL, count, NULL);
	pthread_create(&b, NULL, count, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	munmap(stats, sizeof *stats);
	close(fd);
	puts("counted");
	return 0;
}
