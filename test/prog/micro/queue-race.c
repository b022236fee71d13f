// SPDX-License-Identifier: Apache-2.0
// expect: race heap 1
// recorded: the item is put into the list and finished before it is taken.
/* The item is put into the list before it is finished. */
#include "case.h"

struct item {
	int value;
};
MUTEX(m);
static struct item *head;
THREAD(put)
{
	UNUSED;
	struct item *new_item = calloc(1, sizeof *new_item);

	LOCK(m);
	head = new_item;
	UNLOCK(m);
	new_item->value = 7;
	LOCK(m);
	UNLOCK(m);
	return NULL;
}
THREAD(take)
{
	UNUSED;
	LOCK(m);
	struct item *mine = head;
	UNLOCK(m);
	return mine && mine->value == 7 ? NULL : argument;
}
int main(void)
{
	run_two(put, take);
	free(head);
	return 0;
}
