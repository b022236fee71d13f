// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the consumer waits before the producer begins.
/* The data are written before the notification. */
#include "case.h"
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex m;
static std::condition_variable c;
static bool ready;
static int data;
int main()
{
	std::thread consume([] {
		std::unique_lock<std::mutex> lock(m);
		c.wait(lock, [] { return ready; });
		lock.unlock();
		if (data != 7)
			abort();
	});
	settle();
	std::thread produce([] {
		data = 7;
		{
			std::lock_guard<std::mutex> guard(m);
			ready = true;
		}
		c.notify_one();
	});
	consume.join();
	produce.join();
	return 0;
}
