// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the consumer waits before the producer begins.
/* A std::condition_variable, waited for with a predicate, orders x; a std::promise orders y. */
#include "case.h"
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

static std::mutex m;
static std::condition_variable c;
static std::promise<int> promise;
static bool ready;
static int x, y;
int main()
{
	std::thread consume([] {
		std::unique_lock<std::mutex> lock(m);
		c.wait(lock, [] { return ready; });
		x = 2;
	});
	settle();
	std::thread produce([] {
		x = 1;
		{
			std::lock_guard<std::mutex> guard(m);
			ready = true;
		}
		c.notify_one();
		y = 7;
		promise.set_value(3);
	});
	int got = promise.get_future().get() + y;
	consume.join();
	produce.join();
	return got != 10;
}
