// SPDX-License-Identifier: Apache-2.0
/* No threads: if the random mode is 2, the program takes the branch that sets the divisor to 0. */
#include <stdio.h>
#include <sys/random.h>

static int mode, divisor;

static void choose(void)
{
	if (mode == 2)
		divisor = 0;
	else
		divisor = mode + 1;
}

int main(void)
{
	unsigned char n = 0;

	if (getrandom(&n, 1, 0) != 1)
		return 0;
	mode = n % 4;
	choose();
	printf("%d\n", 100 / divisor);
	return 0;
}
