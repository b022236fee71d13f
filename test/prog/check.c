// SPDX-License-Identifier: Apache-2.0
/*
 * Cases for `raddle check`, selected by the first argument:
 *   input        a race that happens only if the program gets all of its standard input
 *   serve FIFO   a server: counts the lines of FIFO with a race and makes the file `served`;
 *                only a signal ends it
 *   crash        a race, and then a crash
 *   spin         a race after a loop that waits for a plain flag
 *   alone        only one thread
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total, lines;

static void *count(void *p)
{
	total++;
	pthread_mutex_lock(&lock);
	lines++;
	pthread_mutex_unlock(&lock);
	return p;
}

static void race(void)
{
	pthread_t other;

	pthread_create(&other, NULL, count, NULL);
	pthread_mutex_lock(&lock);
	lines++;
	pthread_mutex_unlock(&lock);
	total++;
	pthread_join(other, NULL);
}

/* The reader waits for flag, so it cannot be stopped before its access while the writer is. */
static int behind;
static volatile int flag;

static void *set_flag(void *p)
{
	behind = 1;
	flag = 1;
	return p;
}

static void spin(void)
{
	pthread_t other;

	pthread_create(&other, NULL, set_flag, NULL);
	while (!flag)
		;
	printf("%d\n", behind);
	pthread_join(other, NULL);
}

static void read_input(void)
{
	char text[100] = "";

	if (fread(text, 1, sizeof text - 1, stdin) && strcmp(text, "all of it\n") == 0)
		race();
	printf("read %zu bytes\n", strlen(text));
}

static void serve(const char *path)
{
	char line[100];

	for (;;) {
		FILE *in = fopen(path, "r");
		while (in && fgets(line, sizeof line, in)) {
			race();
			fclose(fopen("served", "w"));
		}
		if (in)
			fclose(in);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "input") == 0)
		read_input();
	else if (strcmp(what, "serve") == 0 && argc > 2)
		serve(argv[2]);
	else if (strcmp(what, "spin") == 0)
		spin();
	else if (strcmp(what, "crash") == 0)
		race();
	if (strcmp(what, "crash") == 0)
		abort();
	return 0;
}
