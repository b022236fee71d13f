// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: both threads meet at the barrier.
/* Each thread takes both locks by one std::scoped_lock, which cannot deadlock. */
#include "case.h"
#include <mutex>
#include <thread>

static std::mutex a, b;
static pthread_barrier_t both;
int main()
{
	alarm(300);
	pthread_barrier_init(&both, NULL, 2);
	std::thread second([] {
		pthread_barrier_wait(&both);
		std::scoped_lock<std::mutex, std::mutex> two(b, a);
	});
	pthread_barrier_wait(&both);
	{
		std::scoped_lock<std::mutex, std::mutex> two(a, b);
	}
	second.join();
	return 0;
}
