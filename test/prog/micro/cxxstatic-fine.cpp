// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* C++ guarantees that a static local variable is initialised once. */
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

	return t.value;
}
int main()
{
	std::thread first([] {
		if (get() != 7)
			abort();
	});
	settle();
	std::thread second([] {
		if (get() != 7)
			abort();
	});
	first.join();
	second.join();
	return 0;
}
