// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the reader has left before the writer enters.
/* The order of a shared and an exclusive section of a std::shared_mutex hides the race. */
#include "case.h"
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex m;
static int x, y;
int main()
{
	std::thread look([] {
		x = 1;
		std::shared_lock<std::shared_mutex> lock(m);
		if (y < 0)
			abort();
	});
	settle();
	std::thread set([] {
		{
			std::unique_lock<std::shared_mutex> lock(m);
			y = 2;
		}
		x = 2;
	});
	look.join();
	set.join();
	return x == 0;
}
