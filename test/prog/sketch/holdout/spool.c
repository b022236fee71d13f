// SPDX-License-Identifier: Apache-2.0
/* After Apache 25520: two writers may write to the same place in a log buffer; an entry is lost. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

static char spool[64];
static volatile unsigned used;

static void append(const char *text)
{
	unsigned at = used;

	strcpy(spool + at, text);
	used = at + 4;
}

static void *writer(void *text)
{
	append(text);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, writer, "one,");
	pthread_create(&b, NULL, writer, "two,");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(used == 8);
	return 0;
}
