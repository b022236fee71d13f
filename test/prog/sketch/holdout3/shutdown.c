// SPDX-License-Identifier: Apache-2.0
/* Main closes the log at the end; a thread that still writes a line may find no log. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct log {
	char lines[128];
};

static struct log *log_now;
static volatile int stop;

static void say(const char *line)
{
	strcat(log_now->lines, line);
}

static void *worker(void *unused)
{
	for (int i = 0; i < 3 && !stop; i++)
		say("tick ");
	say("end");
	return unused;
}

static void close_log(void)
{
	struct log *old = log_now;

	log_now = NULL;
	puts(old->lines);
	free(old);
}

int main(void)
{
	pthread_t t;

	log_now = calloc(1, sizeof *log_now);
	pthread_create(&t, NULL, worker, NULL);
	stop = 1;
	close_log();
	pthread_join(t, NULL);
	return 0;
}
