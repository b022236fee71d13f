// SPDX-License-Identifier: Apache-2.0
/*
 * Programs that use oneTBB, selected by number.  Those below RACY are correct; the others race on
 * `total`.  Without an argument, RACY and the number of programs are printed.
 */
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <tbb/blocked_range.h>
#include <tbb/concurrent_hash_map.h>
#include <tbb/concurrent_queue.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_reduce.h>
#include <tbb/queuing_mutex.h>
#include <tbb/spin_mutex.h>
#include <tbb/task_group.h>
#include <thread>
#include <vector>

static int total;

static void with_for()
{
	std::vector<int> v(64, 1);

	tbb::parallel_for(tbb::blocked_range<size_t>(0, v.size(), 8), [&](const auto &r) {
		for (size_t i = r.begin(); i < r.end(); i++)
			v[i] += (int)i;
	});
	for (int n : v)
		total += n;
}

static void with_reduce()
{
	std::vector<int> v(64, 1);

	total = tbb::parallel_reduce(
		tbb::blocked_range<size_t>(0, v.size(), 8), 0,
		[&](const auto &r, int sum) {
			for (size_t i = r.begin(); i < r.end(); i++)
				sum += v[i];
			return sum;
		},
		std::plus<int>());
}

static void with_tasks()
{
	tbb::task_group group;
	int parts[3] = {1, 1, 1};

	for (int &part : parts)
		group.run([&part] { part += 2; });
	group.wait();
	total = parts[0] + parts[1] + parts[2];
}

static void with_spin_mutex()
{
	tbb::spin_mutex m;
	auto work = [&] {
		tbb::spin_mutex::scoped_lock lock(m);
		total++;
	};
	std::thread a(work), b(work);

	a.join();
	b.join();
}

static void with_queuing_mutex()
{
	tbb::queuing_mutex m;
	auto work = [&] {
		tbb::queuing_mutex::scoped_lock lock(m);
		total++;
	};
	std::thread a(work), b(work);

	a.join();
	b.join();
}

static void with_queue()
{
	tbb::concurrent_bounded_queue<int *> q;
	std::thread t([&] {
		for (int i = 1; i <= 3; i++)
			q.push(new int(i));
	});

	for (int i = 0; i < 3; i++) {
		int *p;

		q.pop(p);
		total += *p;
		delete p;
	}
	t.join();
}

static void with_map()
{
	tbb::concurrent_hash_map<int, int> map;
	auto work = [&] {
		tbb::concurrent_hash_map<int, int>::accessor a;

		map.insert(a, 1);
		a->second++;
	};
	std::thread a(work), b(work);

	a.join();
	b.join();
	tbb::concurrent_hash_map<int, int>::const_accessor found;
	if (map.find(found, 1))
		total = found->second;
}

static void with_nothing()
{
	std::thread a([] { total++; }), b([] { total++; });

	a.join();
	b.join();
}

static void with_two_mutexes()
{
	tbb::spin_mutex m, n;
	std::thread a([&] {
		tbb::spin_mutex::scoped_lock lock(m);
		total++;
	});
	std::thread b([&] {
		tbb::spin_mutex::scoped_lock lock(n);
		total++;
	});

	a.join();
	b.join();
}

static void (*const programs[])() = {
	with_for,   with_reduce, with_tasks,   with_spin_mutex,	 with_queuing_mutex,
	with_queue, with_map,	 with_nothing, with_two_mutexes,
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
