/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the words of a generated text in one hash table.  Each lock guards several buckets (lock
 * striping), and each new word is allocated with malloc (Phoenix-like).  SIZE is the text's length
 * in KiB.
 */
#include "kernel.h"
#include <ctype.h>

#define BUCKETS 16384
#define STRIPES 64
#define VOCABULARY 20000

struct word {
	struct word *next;
	long count;
	char text[];
};

static struct kernel_args args;
static char *text;
static long length;
static struct word *bucket[BUCKETS];
static pthread_mutex_t stripe[STRIPES];

static uint64_t hash(const char *s, long n)
{
	uint64_t h = 14695981039346656037ull;
	for (long i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 1099511628211ull;
	return h ^ h >> 29;
}

static struct word *find(struct word *w, const char *s, long n)
{
	while (w && (strncmp(w->text, s, n) || w->text[n]))
		w = w->next;
	return w;
}

static void add(const char *s, long n)
{
	uint64_t h = hash(s, n);
	pthread_mutex_t *lock = &stripe[h % STRIPES];
	struct word **head = &bucket[h % BUCKETS];
	pthread_mutex_lock(lock);
	struct word *w = find(*head, s, n);
	if (!w) {
		w = kernel_alloc(1, sizeof *w + n + 1);
		memcpy(w->text, s, n);
		w->next = *head;
		*head = w;
	}
	w->count++;
	pthread_mutex_unlock(lock);
}

static void *work(void *argument)
{
	int self = (int)(intptr_t)argument;
	long i = kernel_first(length, self, args.threads), end = kernel_first(length, self + 1, args.threads);
	while (i > 0 && i < length && isalpha((unsigned char)text[i - 1]))
		i++;
	while (i < end) {
		long start = i;
		while (i < length && isalpha((unsigned char)text[i]))
			i++;
		if (i > start)
			add(text + start, i - start);
		i++;
	}
	return NULL;
}

static void make_text(void)
{
	uint64_t seed = 0;
	for (long i = 0; i < length;) {
		uint64_t word = kernel_random(seed++) % VOCABULARY;
		word = word * kernel_random(seed++) % VOCABULARY;
		int letters = 2 + (int)(kernel_random(word) % 9);
		for (int k = 0; k < letters && i < length; k++)
			text[i++] = (char)('a' + kernel_random(word * 16 + k) % 26);
		if (i < length)
			text[i++] = ' ';
	}
}

int main(int argc, char **argv)
{
	args = kernel_args(argc, argv, 64, 24 * 1024);
	length = args.size * 1024;
	text = kernel_alloc(length + 1, 1);
	make_text();
	for (int i = 0; i < STRIPES; i++)
		pthread_mutex_init(&stripe[i], NULL);
	kernel_run(args.threads, work);
	uint64_t sum = 0;
	for (int i = 0; i < BUCKETS; i++)
		while (bucket[i]) {
			struct word *w = bucket[i];
			sum += hash(w->text, (long)strlen(w->text)) * w->count;
			bucket[i] = w->next;
			free(w);
		}
	for (int i = 0; i < STRIPES; i++)
		pthread_mutex_destroy(&stripe[i]);
	free(text);
	return kernel_report("wordcount", sum);
}
