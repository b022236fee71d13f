// SPDX-License-Identifier: Apache-2.0
/*
 * A race on `data` that happens only if a read that races with another thread returns the same
 * value as in the recorded run.  In the recorded run the write comes before that read.  In later
 * runs, which find the file "seen", it comes after the read.
 */
#include "micro/case.h"

static int mode, data, seen;

static void *look(void *unused)
{
	if (!seen)
		settle();
	if (mode)
		data = 1;
	return unused;
}

int main(void)
{
	pthread_t looker;

	seen = access("seen", F_OK) == 0;
	pthread_create(&looker, NULL, look, NULL);
	if (seen)
		settle();
	mode = 1;
	data = 2;
	pthread_join(looker, NULL);
	return 0;
}
