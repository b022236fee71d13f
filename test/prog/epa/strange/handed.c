// SPDX-License-Identifier: Apache-2.0
/* One thread writes a file; another waits for a semaphore and then reads the file. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static sem_t written;
static const char path[] = "handed.bin";

static void *writer(void *argument)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600), numbers[16];
	(void)argument;
	for (int i = 0; i < 16; i++)
		numbers[i] = i * i;
	if (write(fd, numbers, sizeof numbers) < 0)
		return NULL;
	close(fd);
	sem_post(&written);
	return NULL;
}

static void *reader(void *argument)
{
	int numbers[16] = {0}, fd;
	long sum = 0;
	(void)argument;
	sem_wait(&written);
	fd = open(path, O_RDONLY);
	if (read(fd, numbers, sizeof numbers) < 0)
		return NULL;
	close(fd);
	for (int i = 0; i < 16; i++)
		sum = sum * 3 + numbers[i];
	return (void *)sum;
}

int main(void)
{
	pthread_t a, b;
	void *r;
	sem_init(&written, 0, 0);
	pthread_create(&a, NULL, reader, NULL);
	pthread_create(&b, NULL, writer, NULL);
	pthread_join(a, &r);
	pthread_join(b, NULL);
	unlink(path);
	printf("%ld\n", (long)r);
	return 0;
}
