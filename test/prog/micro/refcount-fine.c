// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first owner is done before the second gives up its reference.
/* Reference counts; each reference is given up after the last use. */
#include "case.h"

struct shared {
	atomic_int owners;
	int value;
};
static struct shared *object;

static void let_go(struct shared *s)
{
	if (atomic_fetch_sub(&s->owners, 1) == 1)
		free(s);
}
THREAD(early)
{
	struct shared *mine = object;
	int value = mine->value;

	let_go(mine);
	return value == 7 ? NULL : argument;
}
THREAD(late)
{
	UNUSED;
	let_go(object);
	return NULL;
}
int main(void)
{
	object = malloc(sizeof *object);
	atomic_init(&object->owners, 2);
	object->value = 7;
	run_two(early, late);
	return 0;
}
