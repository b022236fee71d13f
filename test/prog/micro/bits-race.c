// SPDX-License-Identifier: Apache-2.0
// expect: race flags.low 1
// recorded: one thread is done before the other begins.
/* Two threads write two bit fields that share one byte. */
#include "case.h"

static struct {
	unsigned low : 3;
	unsigned high : 5;
} flags;
THREAD(set_low)
{
	UNUSED;
	flags.low = 1;
	return NULL;
}
THREAD(set_high)
{
	UNUSED;
	flags.high = 1;
	return NULL;
}
int main(void)
{
	run_two(set_low, set_high);
	return flags.low + flags.high == 0;
}
