/* SPDX-License-Identifier: Apache-2.0 */
/* A program on which the effect of each fault is
 * known.  Each part prints values, or returns a
 * status, that show what a fault changed.
 *
 *	inject-kinds PART */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int cell = 40;
static int *volatile pointers[3];
static int numbers[3] = {10, 20, 30};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int turns;

/* Main calls this twice: a fault in a register changes one result, one in memory changes both. */
static __attribute__((noinline)) int read_cell(void)
{
	return cell;
}

static __attribute__((noinline)) void write_cell(int value)
{
	cell = value;
}

static __attribute__((noinline)) int follow(int i)
{
	return *pointers[i];
}

static void *work(void *argument)
{
	pthread_mutex_lock(&lock);
	turns++;
	pthread_mutex_unlock(&lock);
	return argument;
}

static int threads(void)
{
	pthread_t thread;
	void *result = NULL;

	if (pthread_create(&thread, NULL, work, &cell))
		return 3;
	pthread_join(thread, &result);
	if (pthread_create(&thread, NULL, work, &cell))
		return 4;
	pthread_join(thread, &result);
	printf("turns %d\n", turns);
	return 0;
}

static int files(void)
{
	FILE *one = fopen("/dev/null", "r"), *two = fopen("/dev/null", "r");

	return one && two ? 0 : one ? 5 : 6;
}

static int memory(void)
{
	char *small = malloc(100), *large = malloc(32 << 20);

	if (!large)
		return 7;
	memset(small, 1, 100);
	large[5] = 2;
	printf("memory %d\n", small[3] + large[5]);
	return 0;
}

/* Reads at most four characters of a line, into a buffer with room for more. */
static int line(void)
{
	char text[4096] = "";
	FILE *f = fopen("text", "w+");

	if (!f)
		return 8;
	fputs("abcdefghijklmnopqrstuvwxyz\n", f);
	rewind(f);
	if (fgets(text, 5, f))
		printf("line %s\n", text);
	fclose(f);
	return 0;
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";

	if (!strcmp(part, "cell")) {
		int a = read_cell(), b = read_cell();
		printf("%d %d\n", a, b);
	}
	if (!strcmp(part, "store")) {
		write_cell(7);
		printf("%d\n", cell);
	}
	if (!strcmp(part, "pointer")) {
		for (int i = 0; i < 3; i++)
			pointers[i] = &numbers[i];
		int a = follow(0), b = follow(1), c = follow(2);
		printf("%d %d %d\n", a, b, c);
	}
	if (!strcmp(part, "threads"))
		return threads();
	if (!strcmp(part, "files"))
		return files();
	if (!strcmp(part, "memory"))
		return memory();
	if (!strcmp(part, "line"))
		return line();
	return 0;
}
