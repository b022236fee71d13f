// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* llvm/llvm-project #57955, google/sanitizers #1419: one thread locks a-b, then b-c; one c-a. */
#include "case.h"
#include <mutex>
#include <thread>

static std::mutex a, b, c;
static void inner()
{
	std::unique_lock<std::mutex> one(a);
	std::unique_lock<std::mutex> two(b);
}
int main()
{
	std::thread first([] {
		inner();
		std::unique_lock<std::mutex> two(b);
		std::unique_lock<std::mutex> three(c);
	});
	settle();
	std::thread second([] {
		std::unique_lock<std::mutex> three(c);
		std::unique_lock<std::mutex> one(a);
	});
	first.join();
	second.join();
	return 0;
}
