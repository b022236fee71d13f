// SPDX-License-Identifier: Apache-2.0
/* Both workers may see that one job is left in a C++ container, and take it. */
#include <cstdio>
#include <thread>
#include <vector>

struct job {
	int number;
};

static job only{7};
static std::vector<job *> jobs;

static void work()
{
	if (jobs.empty())
		return;
	job *mine = jobs.back();
	jobs.back() = nullptr;
	jobs.pop_back();
	std::printf("%d\n", mine->number);
}

int main()
{
	jobs.push_back(&only);
	std::thread a(work);
	std::thread b(work);
	a.join();
	b.join();
	return 0;
}
