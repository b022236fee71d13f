// SPDX-License-Identifier: Apache-2.0
/*
 * The ways in which threads end, and what runs then: destructors of thread-local objects and of
 * keys, pthread_exit(), cancellation, exceptions, detached threads, and a mutex that detects
 * errors.
 */
#include <cerrno>
#include <cfenv>
#include <condition_variable>
#include <csetjmp>
#include <cstdlib>
#include <future>
#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static int ended, destroyed;

struct local {
	int value = 1;
	~local()
	{
		std::lock_guard<std::mutex> guard(lock);
		destroyed += value;
	}
};
static thread_local local mine;
static pthread_key_t key;

static void end()
{
	std::lock_guard<std::mutex> guard(lock);
	ended++;
	changed.notify_all();
}

static void destroy(void *value)
{
	*static_cast<int *>(value) = 2;
	end();
}

static void *by_exit(void *value)
{
	pthread_setspecific(key, value);
	mine.value = 1;
	pthread_exit(value);
}

static void *by_cancel(void *unused)
{
	for (;;) {
		pthread_testcancel();
		sched_yield();
	}
	return unused;
}

static void *detached(void *unused)
{
	std::jmp_buf here;

	if (!setjmp(here))
		longjmp(here, 1);
	std::fesetround(FE_UPWARD);
	end();
	return std::fegetround() == FE_UPWARD ? unused : nullptr;
}

static void *relock(void *mutex)
{
	auto m = static_cast<pthread_mutex_t *>(mutex);

	pthread_mutex_lock(m);
	if (pthread_mutex_lock(m) != EDEADLK || pthread_mutex_unlock(m) != 0)
		std::abort();
	return nullptr;
}

int main()
{
	pthread_t a, b, c, d;
	pthread_mutexattr_t kind;
	pthread_mutex_t careful;
	void *result;
	int value = 1;

	pthread_key_create(&key, destroy);
	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&careful, &kind);
	pthread_create(&a, nullptr, by_exit, &value);
	pthread_create(&b, nullptr, by_cancel, nullptr);
	pthread_create(&c, nullptr, detached, nullptr);
	pthread_detach(c);
	pthread_create(&d, nullptr, relock, &careful);
	auto thrown = std::async(std::launch::async, []() -> int { throw std::runtime_error("x"); });
	pthread_cancel(b);
	if (pthread_join(b, &result) || result != PTHREAD_CANCELED)
		return 1;
	if (pthread_join(a, &result) || result != &value || value != 2)
		return 2;
	pthread_join(d, nullptr);
	try {
		thrown.get();
		return 3;
	} catch (const std::runtime_error &) {
	}
	std::unique_lock<std::mutex> guard(lock);
	changed.wait(guard, [] { return ended == 2; });
	return destroyed == 1 ? 0 : 4;
}
