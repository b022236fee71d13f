// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* std::scoped_lock takes two locks, named in any order, without a deadlock. */
#include "case.h"
#include <mutex>
#include <thread>

static std::mutex a, b;
int main()
{
	std::thread first([] { std::scoped_lock<std::mutex, std::mutex> both(a, b); });
	settle();
	std::thread second([] { std::scoped_lock<std::mutex, std::mutex> both(b, a); });
	first.join();
	second.join();
	return 0;
}
