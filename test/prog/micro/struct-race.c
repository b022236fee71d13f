// SPDX-License-Identifier: Apache-2.0
// expect: race current.colour
// recorded: the structure is copied before its member is set.
/* One thread copies a whole structure while another may set a member of it. */
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
	saved = current;
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
