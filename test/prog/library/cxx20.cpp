// SPDX-License-Identifier: Apache-2.0
/*
 * Programs that use C++20 primitives, selected by number.  Those below RACY are correct; the others
 * race on `total`.  Without an argument, RACY and the number of programs are printed.
 */
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>

static int total;

static void with_atomic_wait()
{
	std::atomic<int> flag{0};
	std::jthread t([&] {
		total = 5;
		flag.store(1, std::memory_order_release);
		flag.notify_one();
	});

	flag.wait(0, std::memory_order_acquire);
	total++;
}

static void with_latch()
{
	std::latch done(2);
	int parts[2];
	std::jthread a([&] {
		parts[0] = 1;
		done.count_down();
	});
	std::jthread b([&] {
		parts[1] = 2;
		done.count_down();
	});

	done.wait();
	total = parts[0] + parts[1];
}

static void with_barrier()
{
	int parts[2] = {0, 0};
	std::barrier meet(2);
	auto work = [&](int i) {
		parts[i] = i + 1;
		meet.arrive_and_wait();
		int sum = parts[0] + parts[1];
		meet.arrive_and_wait();
		parts[i] = sum;
	};

	{
		std::jthread a(work, 0), b(work, 1);
	}
	total = parts[0] + parts[1];
}

static void with_semaphore()
{
	std::counting_semaphore<4> free(1);
	auto work = [&] {
		free.acquire();
		total++;
		free.release();
	};
	std::jthread a(work), b(work);
}

static void with_binary_semaphore()
{
	std::binary_semaphore given(0);
	std::jthread t([&] {
		total = 3;
		given.release();
	});

	given.acquire();
	total++;
}

static void with_stop_token()
{
	std::jthread t([](std::stop_token token) {
		while (!token.stop_requested())
			std::this_thread::yield();
		total++;
	});

	total = 1;
	t.request_stop();
}

static void with_any_condition()
{
	std::shared_mutex m;
	std::condition_variable_any c;
	bool ready = false;
	std::jthread t([&] {
		std::unique_lock lock(m);
		total = 4;
		ready = true;
		c.notify_all();
	});
	std::shared_lock lock(m);

	c.wait(lock, [&] { return ready; });
	if (total != 4)
		std::abort();
}

static void with_nothing()
{
	std::jthread a([] { total++; }), b([] { total++; });
}

static void with_relaxed_flag()
{
	std::atomic<int> flag{0};
	std::jthread t([&] {
		total = 5;
		flag.store(1, std::memory_order_relaxed);
	});

	while (!flag.load(std::memory_order_relaxed))
		std::this_thread::yield();
	total++;
}

static void with_early_arrival()
{
	std::latch done(1);
	std::jthread t([&] {
		done.count_down();
		total++;
	});

	done.wait();
	total++;
}

static void (*const programs[])() = {
	with_atomic_wait, with_latch,	      with_barrier, with_semaphore,    with_binary_semaphore,
	with_stop_token,  with_any_condition, with_nothing, with_relaxed_flag, with_early_arrival,
};
enum { COUNT = sizeof programs / sizeof programs[0], RACY = 7 };

int main(int argc, char **argv)
{
	if (argc < 2) {
		std::printf("%d %d\n", RACY, COUNT);
		return 0;
	}
	programs[std::atoi(argv[1]) % COUNT]();
	std::printf("%d\n", total);
	return 0;
}
