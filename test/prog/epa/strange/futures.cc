// SPDX-License-Identifier: Apache-2.0
/* Results are computed by std::async, a std::promise and a std::packaged_task. */
#include <cstdio>
#include <future>
#include <string>
#include <thread>

static long fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main()
{
	auto a = std::async(std::launch::async, fib, 9);
	std::promise<std::string> promise;
	std::thread t([&promise] { promise.set_value("promised " + std::to_string(fib(6))); });
	std::packaged_task<int(int)> task([](int x) { return x * x; });
	auto c = task.get_future();
	std::thread u(std::move(task), 12);
	std::printf("%ld %s %d\n", a.get(), promise.get_future().get().c_str(), c.get());
	t.join();
	u.join();
}
