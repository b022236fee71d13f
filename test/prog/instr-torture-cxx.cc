// SPDX-License-Identifier: Apache-2.0
/*
 * C++ on which instrumenters may stumble: exceptions through frames with destructors, virtual
 * calls, templates, thread-local objects, static locals, and predicates of condition variables.
 * The program prints what it computes.
 */
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static int alive;

struct Guard {
	Guard() { alive++; }
	~Guard() { alive--; }
};

struct Shape {
	virtual ~Shape() = default;
	virtual int area() const = 0;
};
struct Square : Shape {
	int side;
	explicit Square(int s) : side(s) {}
	int area() const override { return side * side; }
};
struct Bad : Shape {
	int area() const override
	{
		Guard g;
		throw std::runtime_error("no area");
	}
};

template <class T> struct Stack {
	std::vector<T> items;
	void push(T v) { items.push_back(std::move(v)); }
	T pop()
	{
		if (items.empty())
			throw std::out_of_range("empty");
		T v = items.back();
		items.pop_back();
		return v;
	}
};

static int counted()
{
	static int calls = 40;
	static const std::string name = "static local";
	return calls++ + static_cast<int>(name.size());
}

struct PerThread {
	std::string text = "thread";
	~PerThread() { alive += 0; }
};
static thread_local PerThread per_thread;

static std::mutex mutex;
static std::condition_variable filled;
static Stack<int> queue;
static bool done;

static int deep(int n)
{
	Guard g;
	if (n == 0)
		throw n + 42;
	return deep(n - 1) + 1;
}

static int consumer()
{
	int total = 0;
	for (;;) {
		std::unique_lock<std::mutex> lock(mutex);
		filled.wait(lock, [] { return done || !queue.items.empty(); });
		if (queue.items.empty())
			return total;
		total += queue.pop();
	}
}

int main()
{
	std::vector<std::unique_ptr<Shape>> shapes;
	shapes.emplace_back(new Square(3));
	shapes.emplace_back(new Bad);
	shapes.emplace_back(new Square(4));
	int total = 0, failures = 0;
	for (auto &s : shapes)
		try {
			Guard g;
			total += s->area();
		} catch (const std::exception &e) {
			failures++;
			std::printf("%s %d\n", e.what(), alive);
		}
	try {
		deep(10);
	} catch (int n) {
		total += n;
	}
	try {
		Stack<std::string> s;
		s.push("x");
		s.pop();
		s.pop();
	} catch (const std::out_of_range &e) {
		std::printf("%s\n", e.what());
	}
	int result = 0;
	std::thread t([&result] { result = consumer(); });
	for (int i = 0; i < 100; i++) {
		std::lock_guard<std::mutex> lock(mutex);
		queue.push(i);
		filled.notify_one();
	}
	{
		std::lock_guard<std::mutex> lock(mutex);
		done = true;
	}
	filled.notify_all();
	t.join();
	std::map<std::string, int> m;
	for (const char *w : {"one", "two", "three", "two"})
		m[w] += 1;
	std::function<int(int)> f = [&m](int x) { return x + m["two"]; };
	counted();
	std::printf("%d %d %d %d %d %s %zu\n", total, failures, result, f(5), counted(), per_thread.text.c_str(),
		    m.size());
	return alive;
}
