// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the worker is finished before the owner deletes.
/* The destructor of the derived class waits until the virtual call has ended. */
#include "case.h"
#include <condition_variable>
#include <mutex>
#include <thread>

struct job {
	std::mutex m;
	std::condition_variable c;
	bool done = false;
	virtual void work() = 0;
	void finish()
	{
		std::lock_guard<std::mutex> guard(m);
		done = true;
		c.notify_one();
	}
	virtual ~job() = default;
};

static int worked;
struct count : job {
	void work() override
	{
		worked++;
	}
	~count() override
	{
		std::unique_lock<std::mutex> lock(m);
		c.wait(lock, [this] { return done; });
	}
};

static job *volatile object;
int main()
{
	object = new count;
	std::thread worker([] {
		object->work();
		object->finish();
	});
	settle();
	std::thread owner([] { delete object; });
	worker.join();
	owner.join();
	return worked - 1;
}
