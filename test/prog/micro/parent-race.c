// SPDX-License-Identifier: Apache-2.0
// expect: race argument_of_child
// recorded: the child has read before main changes the variable.
/* All children get a pointer to the same variable as their argument. */
#include "case.h"

static int argument_of_child;
THREAD(child)
{
	return *(int *)argument < 3 ? NULL : argument;
}
int main(void)
{
	argument_of_child = 1;
	pthread_t a = start_settled(child, &argument_of_child);
	argument_of_child = 2;
	pthread_t b = start(child, &argument_of_child);
	join(a);
	join(b);
	return 0;
}
