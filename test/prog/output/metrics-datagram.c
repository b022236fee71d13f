// A gauge is sent as a datagram to a collector of metrics, which may not run.
// expect: gauge output-differs -
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static long gauge;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int samples;

static void *sample(void *arg)
{
	pthread_mutex_lock(&lock);
	samples++;
	pthread_mutex_unlock(&lock);
	gauge = (long)arg;
	return NULL;
}

int main(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(18125)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	pthread_t a, b;
	char text[64];

	if (fd < 0)
		return 2;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	pthread_create(&a, NULL, sample, (void *)17L);
	pthread_create(&b, NULL, sample, (void *)23L);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	snprintf(text, sizeof text, "load:%ld|g", gauge);
	sendto(fd, text, strlen(text), 0, (struct sockaddr *)&to, sizeof to);
	close(fd);
	printf("%d samples\n", samples);
	return 0;
}
