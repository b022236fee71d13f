// SPDX-License-Identifier: Apache-2.0
/* Each thread of a pool has its own job queue, with a mutex and a condition variable. */
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>

class worker {
public:
	worker() : thread([this] { run(); }) {}
	void give(std::function<void()> f)
	{
		std::lock_guard<std::mutex> g(lock);
		jobs.push(std::move(f));
		filled.notify_one();
	}
	void end()
	{
		give(nullptr);
		thread.join();
	}

private:
	void run()
	{
		for (;;) {
			std::unique_lock<std::mutex> g(lock);
			filled.wait(g, [this] { return !jobs.empty(); });
			auto f = std::move(jobs.front());
			jobs.pop();
			g.unlock();
			if (!f)
				return;
			f();
		}
	}
	std::mutex lock;
	std::condition_variable filled;
	std::queue<std::function<void()>> jobs;
	std::thread thread;
};

int main()
{
	worker workers[2];
	long sums[2] = {0, 0};
	for (int i = 0; i < 10; i++)
		workers[i % 2].give([i, &sums] { sums[i % 2] = sums[i % 2] * 3 + i; });
	for (auto &w : workers)
		w.end();
	std::printf("%ld %ld\n", sums[0], sums[1]);
}
