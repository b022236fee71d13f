// SPDX-License-Identifier: Apache-2.0
/* Runs a parallel loop and tasks of oneTBB (test/cli/one-lib.sh). */
#include <atomic>
#include <cstdio>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_group.h>

int main()
{
	tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 3);
	std::atomic<int> done{0};
	int sum = tbb::parallel_reduce(
		tbb::blocked_range<int>(0, 8, 1), 0,
		[](const tbb::blocked_range<int> &r, int s) {
			for (int i = r.begin(); i != r.end(); i++)
				s += i;
			return s;
		},
		[](int a, int b) { return a + b; });
	tbb::task_group group;

	for (int i = 0; i < 3; i++)
		group.run([&] { done++; });
	group.wait();
	std::printf("%d %d\n", sum, done.load());
	return sum != 28 || done != 3;
}
