// SPDX-License-Identifier: Apache-2.0
/* C++: the wait has no predicate, so a notification that comes before it is lost. */
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable filled;
static int item;

static void produce()
{
	std::unique_lock<std::mutex> guard(lock);
	item = 3;
	filled.notify_one();
}

static void consume()
{
	std::unique_lock<std::mutex> guard(lock);
	filled.wait(guard);
	std::printf("%d\n", item);
}

int main()
{
	std::thread consumer(consume);
	std::thread producer(produce);
	consumer.join();
	producer.join();
	return 0;
}
