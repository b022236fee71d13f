// SPDX-License-Identifier: Apache-2.0
// expect: race heap
// recorded: the worker is finished before the owner deletes.
/* Only the destructor of the base class waits for the worker.  By then the object's vtable pointer
 * has changed, although the worker may still call the virtual function. */
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
	virtual ~job()
	{
		std::unique_lock<std::mutex> lock(m);
		c.wait(lock, [this] { return done; });
	}
};

static int worked;
struct count : job {
	void work() override
	{
		worked++;
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
