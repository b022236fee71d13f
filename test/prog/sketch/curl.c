// SPDX-License-Identifier: Apache-2.0
/* After curl 965: a URL with unbalanced braces leaves the current pattern without a value.  The
 * input is random, so that some runs pass. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct urls {
	const char *current;
	int count;
};

static struct urls urls;

static int parse(const char *url)
{
	int depth = 0;

	for (const char *c = url; *c; c++)
		depth += *c == '{' ? 1 : *c == '}' ? -1 : 0;
	urls.current = depth ? NULL : url;
	return depth;
}

static size_t next_url(struct urls *u)
{
	u->count++;
	return strlen(u->current);
}

int main(void)
{
	static const char *const inputs[] = {"{}", "a{b}", "{}{", "{a}{b}"};
	unsigned char n = 0;

	if (getrandom(&n, 1, 0) != 1)
		return 0;
	parse(inputs[n % 4]);
	printf("%zu\n", next_url(&urls));
	return 0;
}
