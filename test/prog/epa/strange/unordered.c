// SPDX-License-Identifier: Apache-2.0
/* Not deterministic: one thread appends to a file while another reads as much of it as there is. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static const char path[] = "unordered.bin";

static void *writer(void *argument)
{
	int fd = open(path, O_CREAT | O_APPEND | O_WRONLY, 0600);
	(void)argument;
	for (int i = 0; i < 50; i++)
		if (write(fd, "x", 1) < 0)
			break;
	close(fd);
	return NULL;
}

static void *reader(void *argument)
{
	char text[64];
	int fd = open(path, O_CREAT | O_RDONLY, 0600);
	(void)argument;
	long n = read(fd, text, sizeof text);
	close(fd);
	return (void *)n;
}

int main(void)
{
	pthread_t a, b;
	void *r;
	unlink(path);
	pthread_create(&b, NULL, writer, NULL);
	pthread_create(&a, NULL, reader, NULL);
	pthread_join(a, &r);
	pthread_join(b, NULL);
	unlink(path);
	return (long)r > 100;
}
