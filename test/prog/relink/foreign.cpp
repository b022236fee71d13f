// SPDX-License-Identifier: Apache-2.0
/* A unit that another compiler makes, for the program that is hard to link again. */
#include "relink.h"

struct guard {
	int *p;
	~guard()
	{
		++*p;
	}
};

static int unwound;

int pass_through(int (*f)(int), int x)
{
	guard g = {&unwound};
	return f(x);
}

int foreign(void)
{
	return count_up<int>() * 10 + unwound;
}
