// SPDX-License-Identifier: Apache-2.0
// expect: race name[]
// recorded: the writer is done before the reader begins.
/* One thread copies a string to name while another may call strlen() on it. */
#include "case.h"

static char name[32] = "nobody";
THREAD(set)
{
	strcpy(name, argument ? "someone" : "anyone");
	return NULL;
}
THREAD(measure)
{
	return strlen(name) > 3 ? NULL : argument;
}
int main(void)
{
	run_two(set, measure);
	return name[0] == 0;
}
