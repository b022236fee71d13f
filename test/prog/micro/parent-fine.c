// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: in any order.
/* Each child gets a pointer to a variable of its own. */
#include "case.h"

static int argument_of_child[2];
THREAD(child)
{
	return *(int *)argument < 3 ? NULL : argument;
}
int main(void)
{
	argument_of_child[0] = 1;
	pthread_t a = start_settled(child, &argument_of_child[0]);
	argument_of_child[1] = 2;
	pthread_t b = start(child, &argument_of_child[1]);
	join(a);
	join(b);
	return 0;
}
