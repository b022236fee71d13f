// SPDX-License-Identifier: Apache-2.0
/*
 * Torture program: C++ with exceptions across source files and threads, templates
 * in both files, and the threading part of the standard library.  The output must
 * not depend on timing.  The other file is cxx2.cpp.
 */
#include "cxx.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace
{

struct announcer {
	const char *text;
	explicit announcer(const char *t) : text(t)
	{
		std::printf("+%s\n", text);
	}
	~announcer()
	{
		std::printf("-%s\n", text);
	}
};

announcer global("global");

struct circle : shape {
	double area() const override
	{
		return 3.0;
	}
	std::string name() const override
	{
		return "circle";
	}
};

void check_exceptions()
{
	for (int i = 0; i < 4; i++) {
		announcer frame("frame");
		try {
			std::printf("returned %d\n", throw_if(i));
		} catch (const custom_error &e) {
			std::printf("custom %s %d\n", e.what(), e.code);
		} catch (const std::exception &e) {
			std::printf("std %s\n", e.what());
		} catch (int n) {
			std::printf("int %d\n", n);
		}
	}
	try {
		try {
			throw_if(1);
		} catch (...) {
			std::printf("rethrow\n");
			throw;
		}
	} catch (const custom_error &e) {
		std::printf("again %d\n", e.code);
	}
}

void check_exceptions_in_threads()
{
	std::exception_ptr pointer;
	std::thread t([&] {
		try {
			throw_if(2);
		} catch (...) {
			pointer = std::current_exception();
		}
	});
	t.join();
	try {
		std::rethrow_exception(pointer);
	} catch (const std::exception &e) {
		std::printf("from thread %s\n", e.what());
	}
	auto f = std::async(std::launch::async, [] { return throw_if(1); });
	try {
		f.get();
	} catch (const custom_error &e) {
		std::printf("from future %d\n", e.code);
	}
}

void check_templates()
{
	counted<int> a(1);
	std::vector<counted<int>> many(5, a);
	std::printf("alive %d %d\n", counted<int>::alive, alive_elsewhere());
	std::printf("static local %d %d\n", static_local()++, static_local());
	std::unique_ptr<shape> square(make_square(2));
	circle c;
	std::vector<const shape *> shapes{square.get(), &c};
	for (auto *s : shapes)
		std::printf("%s %.1f\n", s->name().c_str(), s->area());
	std::printf("dynamic_cast %d\n", dynamic_cast<const circle *>(shapes[0]) != nullptr);
}

void check_mutexes()
{
	std::mutex m;
	std::recursive_mutex r;
	std::timed_mutex timed;
	std::shared_mutex shared;
	long total = 0, reads = 0;
	std::vector<std::thread> threads;
	for (int t = 0; t < 4; t++)
		threads.emplace_back([&, t] {
			for (int i = 0; i < 500; i++) {
				std::scoped_lock both(m, r);
				std::lock_guard<std::recursive_mutex> again(r);
				total += t;
				if (std::unique_lock<std::timed_mutex> l(timed, std::chrono::seconds(20)); l)
					total++;
			}
			std::shared_lock<std::shared_mutex> l(shared);
			std::lock_guard<std::mutex> g(m);
			reads++;
		});
	{
		std::unique_lock<std::shared_mutex> l(shared);
		reads += 0;
	}
	for (auto &t : threads)
		t.join();
	std::printf("mutexes %ld %ld\n", total, reads);
}

void check_condition()
{
	std::mutex m;
	std::condition_variable cv;
	std::condition_variable_any any;
	std::shared_mutex s;
	int stage = 0;
	bool ready = false;
	std::thread t([&] {
		std::unique_lock<std::mutex> l(m);
		cv.wait(l, [&] { return stage == 1; });
		stage = 2;
		cv.notify_all();
		l.unlock();
		std::unique_lock<std::shared_mutex> w(s);
		ready = true;
		any.notify_all();
	});
	{
		std::unique_lock<std::mutex> l(m);
		stage = 1;
		cv.notify_all();
		bool in_time = cv.wait_for(l, std::chrono::seconds(30), [&] { return stage == 2; });
		std::printf("condition %d %d\n", in_time, stage);
	}
	{
		std::shared_lock<std::shared_mutex> l(s);
		any.wait(l, [&] { return ready; });
	}
	t.join();
	std::unique_lock<std::mutex> l(m);
	std::printf("timeout %d\n", cv.wait_for(l, std::chrono::milliseconds(5)) == std::cv_status::timeout);
}

void check_once_and_futures()
{
	std::once_flag flag;
	int runs = 0, failures = 0;
	std::vector<std::thread> threads;
	try {
		std::call_once(flag, [&] { throw 1; });
	} catch (int) {
		failures++;
	}
	for (int t = 0; t < 4; t++)
		threads.emplace_back([&] { std::call_once(flag, [&] { runs++; }); });
	for (auto &t : threads)
		t.join();
	std::printf("call_once %d %d\n", runs, failures);
	std::promise<std::string> p;
	auto f = p.get_future();
	std::thread giver([&p] { p.set_value_at_thread_exit("promised"); });
	std::printf("%s\n", f.get().c_str());
	giver.join();
	std::packaged_task<int(int)> task([](int x) { return x * 3; });
	auto tripled = task.get_future();
	std::thread(std::move(task), 14).join();
	std::printf("packaged %d\n", tripled.get());
}

void check_thread_local()
{
	std::map<int, int> seen;
	std::mutex m;
	next_thread_local();
	for (int t = 0; t < 3; t++)
		std::thread([&] {
			next_thread_local();
			std::lock_guard<std::mutex> g(m);
			seen[next_thread_local()]++;
		}).join();
	std::printf("thread_local %d %d\n", seen[102], next_thread_local());
	std::atomic<std::shared_ptr<int> *> pointer{nullptr};
	auto value = std::make_shared<int>(9);
	std::thread([&, value] {
		pointer.store(new std::shared_ptr<int>(value), std::memory_order_release);
	}).join();
	std::printf("shared_ptr %d %ld\n", **pointer.load(std::memory_order_acquire), value.use_count());
	delete pointer.load();
	std::vector<int> v(1000);
	std::iota(v.begin(), v.end(), 1);
	std::sort(v.begin(), v.end(), std::greater<int>());
	std::printf("sorted %d %d\n", v.front(), std::accumulate(v.begin(), v.end(), 0));
}

} // namespace

int main()
{
	announcer local("main");
	check_exceptions();
	check_exceptions_in_threads();
	check_templates();
	check_mutexes();
	check_condition();
	check_once_and_futures();
	check_thread_local();
	std::fflush(stdout);
	std::set_terminate([] {
		std::puts("terminated");
		std::fflush(stdout);
		std::_Exit(3);
	});
	std::thread([] { throw_if(1); }).join();
	return 0;
}
