// SPDX-License-Identifier: Apache-2.0
/* Each thread counts words in its own hash table of strings. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	struct entry *next;
	char *key;
	int count;
};

static unsigned hash(const char *s)
{
	unsigned h = 2166136261u;
	while (*s)
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return h;
}

static void put(struct entry **table, const char *key)
{
	struct entry **at = &table[hash(key) % 8];
	while (*at && strcmp((*at)->key, key) != 0)
		at = &(*at)->next;
	if (!*at) {
		*at = calloc(1, sizeof **at);
		(*at)->key = strdup(key);
	}
	(*at)->count++;
}

static void *work(void *argument)
{
	struct entry *table[8] = {0};
	char text[80], *save, *sum = argument;
	long n = 0;
	strcpy(text, sum);
	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
		put(table, w);
	for (int i = 0; i < 8; i++)
		while (table[i]) {
			struct entry *e = table[i];
			n = n * 11 % 100003 + e->count * (long)strlen(e->key) + i;
			table[i] = e->next;
			free(e->key);
			free(e);
		}
	return (void *)n;
}

int main(void)
{
	static char *texts[] = {"a rose is a rose is a rose", "to be or not to be that is the question",
				"one two two three three three"};
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, texts[i]);
	for (int i = 0; i < 3; i++) {
		void *r;
		pthread_join(t[i], &r);
		printf("%ld\n", (long)r);
	}
	return 0;
}
