// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the giver is done before the taker reads.
/* Pointers are sent through a pipe; the receiver owns the objects. */
#include "case.h"

static int ends[2];
struct job {
	int number, sum;
};
THREAD(give)
{
	for (int i = 0; i < 4; i++) {
		struct job *job = malloc(sizeof *job);

		job->number = i;
		if (write(ends[1], &job, sizeof job) != sizeof job)
			free(job);
	}
	close(ends[1]);
	return argument;
}
THREAD(take)
{
	struct job *job;

	UNUSED;
	while (read(ends[0], &job, sizeof job) == sizeof job) {
		job->sum = job->number + 1;
		free(job);
	}
	return NULL;
}
int main(void)
{
	if (pipe(ends) != 0)
		return 1;
	run_two(give, take);
	return 0;
}
