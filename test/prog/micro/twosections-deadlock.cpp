// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,c
// recorded: the first thread is done before the second begins.
/* As in twosections-fine.cpp, but a is still held when c is locked. */
#include "case.h"
#include <mutex>
#include <thread>

static std::mutex a, b, c;
int main()
{
	std::thread first([] {
		std::unique_lock<std::mutex> one(a);
		{
			std::unique_lock<std::mutex> two(b);
		}
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
