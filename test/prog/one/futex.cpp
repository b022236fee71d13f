// SPDX-License-Identifier: Apache-2.0
/*
 * Threads wait for each other through the C++ library, which uses futexes of its own
 * (test/cli/one-futex.sh): futex MODE.  Each mode prints its name when all threads have ended.
 */
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

static int value;

static void future_mode()
{
	std::promise<int> promise;
	std::future<int> future = promise.get_future();
	std::thread thread([&] {
		value = 6;
		promise.set_value(7);
	});
	int got = future.get();
	if (got + value != 13)
		std::abort();
	thread.join();
}

static void async_mode()
{
	std::vector<std::future<int>> futures;
	int sum = 0;
	for (int i = 0; i < 3; i++)
		futures.push_back(std::async(std::launch::async, [i] { return i; }));
	for (auto &f : futures)
		sum += f.get();
	if (sum != 3)
		std::abort();
}

static void packaged_mode()
{
	std::packaged_task<int(int)> task([](int i) -> int {
		if (i > 1)
			throw std::runtime_error("two");
		return i;
	});
	std::future<int> future = task.get_future();
	std::thread thread(std::move(task), 2);
	try {
		future.get();
		std::abort();
	} catch (const std::runtime_error &e) {
		if (std::strcmp(e.what(), "two"))
			std::abort();
	}
	thread.join();
}

static void shared_mode()
{
	std::promise<void> start;
	std::shared_future<void> started(start.get_future());
	std::vector<std::thread> threads;
	std::atomic<int> count{0};
	for (int i = 0; i < 2; i++)
		threads.emplace_back([&] {
			started.wait();
			count++;
		});
	start.set_value();
	for (auto &t : threads)
		t.join();
	if (count != 2)
		std::abort();
}

static void timed_mode()
{
	std::promise<int> promise;
	std::future<int> future = promise.get_future();
	std::mutex mutex;
	std::condition_variable never;
	std::thread thread([&] {
		std::unique_lock<std::mutex> lock(mutex);
		never.wait_for(lock, std::chrono::milliseconds(5));
		promise.set_value(1);
	});
	while (future.wait_for(std::chrono::hours(1)) != std::future_status::ready)
		;
	thread.join();
}

static void condition_mode()
{
	std::mutex mutex;
	std::condition_variable_any changed;
	bool ready = false;
	std::thread thread([&] {
		std::lock_guard<std::mutex> lock(mutex);
		ready = true;
		changed.notify_one();
	});
	{
		std::unique_lock<std::mutex> lock(mutex);
		changed.wait(lock, [&] { return ready; });
	}
	thread.join();
}

static void once_mode()
{
	std::once_flag flag;
	int runs = 0;
	auto call = [&] { std::call_once(flag, [&] { runs++; }); };
	std::thread a(call), b(call);
	a.join();
	b.join();
	if (runs != 1)
		std::abort();
}

static void latch_mode()
{
	std::latch latch(2);
	std::thread a([&] { latch.count_down(); }), b([&] { latch.arrive_and_wait(); });
	latch.wait();
	a.join();
	b.join();
}

static void semaphore_mode()
{
	std::counting_semaphore<4> items(0);
	std::binary_semaphore done(0);
	std::thread thread([&] {
		for (int i = 0; i < 3; i++)
			items.acquire();
		done.release();
	});
	for (int i = 0; i < 3; i++)
		items.release();
	done.acquire();
	thread.join();
}

static void atomic_mode()
{
	std::atomic<int> stage{0};
	std::atomic<bool> flag{false}; // no int, so its wait uses the library's table of waiters
	std::thread thread([&] {
		stage.wait(0);
		flag = true;
		flag.notify_all();
	});
	stage = 1;
	stage.notify_one();
	flag.wait(false);
	thread.join();
}

static void barrier_mode()
{
	int rounds = 0;
	auto next = [&]() noexcept { rounds++; };
	std::barrier<decltype(next)> barrier(2, next);
	auto meet = [&] {
		for (int i = 0; i < 3; i++)
			barrier.arrive_and_wait();
	};
	std::thread a(meet), b(meet);
	a.join();
	b.join();
	if (rounds != 3)
		std::abort();
}

// No thread keeps the promise, so main waits for ever.
static void broken_mode()
{
	std::promise<int> promise;
	std::future<int> future = promise.get_future();
	std::thread thread([] { value++; });
	thread.join();
	future.get();
}

static const struct {
	const char *name;
	void (*run)();
} modes[] = {
	{"future", future_mode}, {"async", async_mode},	    {"packaged", packaged_mode},
	{"shared", shared_mode}, {"timed", timed_mode},	    {"condition", condition_mode},
	{"once", once_mode},	 {"latch", latch_mode},	    {"semaphore", semaphore_mode},
	{"atomic", atomic_mode}, {"barrier", barrier_mode}, {"broken", broken_mode},
};

int main(int argc, char **argv)
{
	for (auto &mode : modes)
		if (argc > 1 && !std::strcmp(argv[1], mode.name)) {
			mode.run();
			std::puts(mode.name);
			return 0;
		}
	return 2;
}
