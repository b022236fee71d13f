// SPDX-License-Identifier: Apache-2.0
// expect: none
// drop: race heap 2
// recorded: the item is put into the list before it is taken.
/* An item is handed over in a locked list; if the list is empty, the taker ends. */
#include "case.h"

struct item {
	int value;
};
MUTEX(m);
static struct item *head;
THREAD(put)
{
	UNUSED;
	struct item *new_item = malloc(sizeof *new_item);

	new_item->value = 7;
	LOCK(m);
	head = new_item;
	UNLOCK(m);
	return NULL;
}
THREAD(take)
{
	UNUSED;
	LOCK(m);
	struct item *mine = head;
	head = NULL;
	UNLOCK(m);
	if (!mine)
		return NULL;
	int value = mine->value;
	free(mine);
	return value == 7 ? NULL : argument;
}
int main(void)
{
	run_two(put, take);
	free(head);
	return 0;
}
