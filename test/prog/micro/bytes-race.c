// SPDX-License-Identifier: Apache-2.0
// expect: race whole.wide
// recorded: one thread is done before the other begins.
/* One thread writes the word, the other writes a byte of it. */
#include "case.h"

static union {
	int wide;
	char bytes[4];
} whole;
THREAD(set_word)
{
	UNUSED;
	whole.wide = 0x01010101;
	return NULL;
}
THREAD(set_byte)
{
	UNUSED;
	whole.bytes[2] = 1;
	return NULL;
}
int main(void)
{
	run_two(set_word, set_byte);
	return whole.wide == 0;
}
