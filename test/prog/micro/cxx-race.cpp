// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the first thread is done before the second begins.
/* As in sections-race.c, but with std::thread and std::mutex. */
#include "case.h"
#include <mutex>
#include <thread>

static std::mutex m;
static int x, y;
int main()
{
	std::thread first([] {
		x = 1;
		std::lock_guard<std::mutex> guard(m);
		y = 1;
	});
	settle();
	std::thread second([] {
		{
			std::lock_guard<std::mutex> guard(m);
			y = 2;
		}
		x = 2;
	});
	first.join();
	second.join();
	return x + y == 0;
}
