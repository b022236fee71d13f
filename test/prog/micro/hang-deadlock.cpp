// SPDX-License-Identifier: Apache-2.0
// expect: deadlock a,b
// status: 137
// recorded: the program hangs for certain; the caller must end it.
/* google/sanitizers #492, #1258: two threads always deadlock over two std::mutex. */
#include "case.h"
#include <mutex>
#include <thread>

static std::mutex a, b;
static pthread_barrier_t both;
int main()
{
	pthread_barrier_init(&both, NULL, 2);
	std::thread second([] {
		std::lock_guard<std::mutex> one(b);
		pthread_barrier_wait(&both);
		std::lock_guard<std::mutex> two(a);
	});
	a.lock();
	pthread_barrier_wait(&both);
	b.lock();
	b.unlock();
	a.unlock();
	second.join();
	return 0;
}
