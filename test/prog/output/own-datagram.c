// The threads wake main() by a datagram that the program sends to itself.  Its content, the number of
// the last thread, is not used, so the race on that number has no effect.
// expect: last k-witness-harmless -
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static long last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *work(void *arg)
{
	pthread_mutex_lock(&lock);
	done++;
	pthread_mutex_unlock(&lock);
	last = (long)arg;
	return NULL;
}

int main(void)
{
	struct sockaddr_in own = {.sin_family = AF_INET};
	socklen_t size = sizeof own;
	int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
	pthread_t a, b;
	long message;

	own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (in < 0 || out < 0 || bind(in, (struct sockaddr *)&own, sizeof own) ||
	    getsockname(in, (struct sockaddr *)&own, &size))
		return 2;
	pthread_create(&a, NULL, work, (void *)1L);
	pthread_create(&b, NULL, work, (void *)2L);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	message = last;
	sendto(out, &message, sizeof message, 0, (struct sockaddr *)&own, sizeof own);
	if (recv(in, &message, sizeof message, 0) != sizeof message)
		return 3;
	printf("%d done\n", done);
	return 0;
}
