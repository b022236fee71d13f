// A thread withdraws the request to stop when it begins, and then sleeps longer and longer between its polls.
// Why: if the request was made before, the thread polls forever.
// expect: stop spec-violated hang
#include <chrono>
#include <cstdio>
#include <thread>

static volatile bool stop;
static unsigned long polls;

static void work()
{
	auto wait = std::chrono::microseconds(1);
	stop = false;
	while (!stop) {
		++polls;
		std::this_thread::sleep_for(wait);
		if (wait < std::chrono::milliseconds(1))
			wait *= 2;
	}
}

int main()
{
	std::thread t(work);
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
	stop = true;
	t.join();
	std::puts("stopped");
	return 0;
}
