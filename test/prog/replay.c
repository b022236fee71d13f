// SPDX-License-Identifier: Apache-2.0
/*
 * Cases for the tests of replay.  "use": one thread uses what another one takes away; that succeeds
 * in the recorded order and crashes in the other order.  "idle": does nothing else.  "echo": also
 * copies its input and prints its arguments.
 */
#include "micro/case.h"

static int value, *shared = &value;
THREAD(use)
{
	UNUSED;
	*shared = 1;
	return NULL;
}
THREAD(take)
{
	UNUSED;
	shared = NULL;
	return NULL;
}
int main(int argc, char **argv)
{
	char line[64];

	if (argc > 1 && strcmp(argv[1], "idle") == 0)
		return 3;
	if (argc > 1 && strcmp(argv[1], "echo") == 0 && fgets(line, sizeof line, stdin))
		printf("%s: %s", argv[1], line);
	fflush(stdout);
	run_two(use, take);
	return 0;
}
