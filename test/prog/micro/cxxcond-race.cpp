// SPDX-License-Identifier: Apache-2.0
// expect: race data
// recorded: the consumer waits, is notified, and reads long after the write.
/* The data are written after the notification of a std::condition_variable. */
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
		settle();
		if (data < 0)
			abort();
	});
	settle();
	std::thread produce([] {
		{
			std::lock_guard<std::mutex> guard(m);
			ready = true;
		}
		c.notify_one();
		data = 7;
	});
	consume.join();
	produce.join();
	return 0;
}
