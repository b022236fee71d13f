// SPDX-License-Identifier: Apache-2.0
// expect: race get.t.value
// recorded: one thread is done before the other begins.
/* A static local variable is initialised once, but each thread changes it. */
#include "case.h"
#include <thread>

struct table {
	int value;
	table()
	{
		value = 7;
	}
};
static int get()
{
	static table t;

	return t.value++;
}
int main()
{
	std::thread first([] {
		if (get() < 7)
			abort();
	});
	settle();
	std::thread second([] {
		if (get() < 7)
			abort();
	});
	first.join();
	second.join();
	return 0;
}
