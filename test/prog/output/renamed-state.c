// The state is written to a temporary file, which then gets its real name, as an editor saves.
// expect: version output-differs -
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int version = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users;

static void *upgrade(void *arg)
{
	pthread_mutex_lock(&lock);
	users++;
	pthread_mutex_unlock(&lock);
	version = *(int *)arg;
	return NULL;
}

int main(void)
{
	char name[] = "state.XXXXXX";
	int two = 2, three = 3, fd;
	pthread_t a, b;

	pthread_create(&a, NULL, upgrade, &two);
	pthread_create(&b, NULL, upgrade, &three);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	fd = mkstemp(name);
	if (fd < 0)
		return 2;
	dprintf(fd, "version=%d\nusers=%d\n", version, users);
	close(fd);
	return rename(name, "state.conf") ? 2 : 0;
}
