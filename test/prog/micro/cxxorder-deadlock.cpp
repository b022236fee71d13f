// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b
// recorded: the first thread is done before the second begins.
/* Two threads lock two std::mutex in opposite orders. */
#include "case.h"
#include <mutex>
#include <thread>

static std::mutex a, b;
int main()
{
	std::thread first([] {
		std::lock_guard<std::mutex> one(a);
		std::lock_guard<std::mutex> two(b);
	});
	settle();
	std::thread second([] {
		std::lock_guard<std::mutex> one(b);
		std::lock_guard<std::mutex> two(a);
	});
	first.join();
	second.join();
	return 0;
}
