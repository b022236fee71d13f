/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches encrypted lines for the keys that occur in them: each thread decodes
 * its lines into a private buffer and compares (Phoenix-like).  Matches are
 * reported into a shared list under a mutex.  SIZE is the number of lines.
 */
#include "kernel.h"

#define LINE 32
#define KEYS 8

struct match {
	struct match *next;
	long line;
	int key;
};

static struct kernel_args args;
static char (*lines)[LINE];
static char keys[KEYS][8];
static struct match *matches;
static pthread_mutex_t matches_lock = PTHREAD_MUTEX_INITIALIZER;

static void encode(char *to, const char *from, long line)
{
	for (int i = 0; i < LINE; i++)
		to[i] = (char)(from[i] ^ (line * 7 + i));
}

static void report(long line, int key)
{
	struct match *m = kernel_alloc(1, sizeof *m);
	m->line = line;
	m->key = key;
	pthread_mutex_lock(&matches_lock);
	m->next = matches;
	matches = m;
	pthread_mutex_unlock(&matches_lock);
}

static bool contains(const char *text, const char *key)
{
	size_t n = strlen(key);
	for (size_t i = 0; i + n <= LINE; i++) {
		size_t k = 0;
		while (k < n && text[i + k] == key[k])
			k++;
		if (k == n)
			return true;
	}
	return false;
}

static void *work(void *argument)
{
	int self = (int)(intptr_t)argument;
	char *plain = kernel_alloc(LINE, 1);
	long end = kernel_first(args.size, self + 1, args.threads);
	for (long line = kernel_first(args.size, self, args.threads); line < end; line++) {
		encode(plain, lines[line], line);
		for (int key = 0; key < KEYS; key++)
			if (contains(plain, keys[key]))
				report(line, key);
	}
	free(plain);
	return NULL;
}

static void make_input(void)
{
	for (int key = 0; key < KEYS; key++)
		for (int i = 0; i < 3; i++)
			keys[key][i] = (char)('a' + kernel_random(1000 + key * 3 + i) % 20);
	for (long line = 0; line < args.size; line++) {
		char plain[LINE];
		for (int i = 0; i < LINE; i++)
			plain[i] = (char)('a' + kernel_random(5000 + line * LINE + i) % 20);
		encode(lines[line], plain, line);
	}
}

int main(int argc, char **argv)
{
	args = kernel_args(argc, argv, 4000, 800000);
	lines = kernel_alloc(args.size, LINE);
	make_input();
	kernel_run(args.threads, work);
	uint64_t sum = 0;
	while (matches) {
		struct match *m = matches;
		sum += kernel_random(m->line * KEYS + m->key);
		matches = m->next;
		free(m);
	}
	free(lines);
	return kernel_report("strmatch", sum);
}
