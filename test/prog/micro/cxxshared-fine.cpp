// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the reader has left before the writer enters.
/* As in cxxshared-race.cpp, but both accesses are inside the sections. */
#include "case.h"
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex m;
static int x;
int main()
{
	std::thread look([] {
		std::shared_lock<std::shared_mutex> lock(m);
		if (x < 0)
			abort();
	});
	settle();
	std::thread set([] {
		std::unique_lock<std::shared_mutex> lock(m);
		x = 2;
	});
	look.join();
	set.join();
	return x == 0;
}
