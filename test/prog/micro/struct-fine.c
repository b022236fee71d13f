// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one member is read before another is set.
/* As in struct-race.c, but one thread reads only a member that the other does not set. */
#include "case.h"

struct state {
	long pad[2];
	int level;
	int colour;
};
static struct state current, saved;
THREAD(save)
{
	UNUSED;
	saved.level = current.level;
	return NULL;
}
THREAD(set)
{
	UNUSED;
	current.colour = 3;
	return NULL;
}
int main(void)
{
	run_two(save, set);
	return saved.level;
}
