/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++: threads, locks, one-time initialisation that throws, guards, new and delete.
 *
 * HIDE: T_0_0 mutex-request, T_0 mutex-request
 * T_0: thread-start mutex-lock alloc-new thread-create cond-wait cond-wake mutex-unlock thread-join
 * T_0: rwlock-wrlock rwlock-unlock rwlock-rdlock rwlock-unlock
 * T_0: once-run once-done!EPERM once-run once-done once-pass
 * T_0: atomic-load once-run once-done atomic-load alloc-new free-new
 * T_0: alloc-new-array free-new-array alloc-new free-new cond-destroy exit
 * T_0_0: thread-start mutex-lock mutex-unlock cond-signal free-new thread-end
 */
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable cond;
static std::shared_mutex shared;
static std::once_flag flag;
static bool ready;
static int tries;

static void work()
{
	{
		std::lock_guard<std::mutex> guard(mutex);
		ready = true;
	}
	cond.notify_one();
}

static void initialise()
{
	if (tries++ == 0)
		throw 1;
}

struct counter {
	int n;
	__attribute__((noinline)) counter() : n(tries)
	{
	}
};

__attribute__((noinline)) static counter &instance()
{
	static counter c;
	return c;
}

struct alignas(128) wide {
	char bytes[128];
};

template <class T> __attribute__((noinline)) static T *opaque(T *p)
{
	asm volatile("" : "+r"(p));
	return p;
}

int main()
{
	{
		std::unique_lock<std::mutex> lock(mutex);
		std::thread t(work);
		cond.wait(lock, [] { return ready; });
		lock.unlock();
		t.join();
	}
	shared.lock();
	shared.unlock();
	shared.lock_shared();
	shared.unlock_shared();
	try {
		std::call_once(flag, initialise);
	} catch (int) {
	}
	std::call_once(flag, initialise);
	std::call_once(flag, initialise);
	int sum = instance().n + instance().n;
	delete opaque(new int(3));
	delete[] opaque(new int[5]);
	delete opaque(new wide);
	return std::fflush(stdout) + (sum != 4);
}
