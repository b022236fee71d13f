// SPDX-License-Identifier: Apache-2.0
/* The file of the program that is hard to relink (see a.c) that another compiler compiles. */
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
