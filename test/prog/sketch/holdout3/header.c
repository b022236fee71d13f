// SPDX-License-Identifier: Apache-2.0
/* No threads: a header without a colon has no value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct header {
	const char *name, *value;
};

static struct header parse(char *line)
{
	struct header h = {line, NULL};
	char *colon = strchr(line, ':');

	if (colon) {
		*colon = 0;
		h.value = colon + 1;
	}
	return h;
}

static int length_of(const struct header *headers, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(headers[i].name, "length") == 0)
			return atoi(headers[i].value);
	return 0;
}

int main(void)
{
	char first[] = "host:here", good[] = "length:12", bad[] = "length";
	unsigned char n = 0;
	struct header headers[2];

	if (getrandom(&n, 1, 0) != 1)
		return 0;
	headers[0] = parse(first);
	headers[1] = parse(n % 5 ? good : bad);
	printf("%d\n", length_of(headers, 2));
	return 0;
}
