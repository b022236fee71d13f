// SPDX-License-Identifier: Apache-2.0
/* Exceptions are thrown through several frames and rethrown in another thread. */
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

struct guard {
	int *count;
	~guard() { ++*count; }
};

static int depth(int n, int *count)
{
	guard g{count};
	if (n == 0)
		throw std::out_of_range("bottom " + std::to_string(*count));
	return depth(n - 1, count) + 1;
}

int main()
{
	int counts[3] = {0, 0, 0};
	std::exception_ptr kept[3];
	std::thread threads[3];
	for (int i = 0; i < 3; i++)
		threads[i] = std::thread([i, &counts, &kept] {
			try {
				depth(3 + i, &counts[i]);
			} catch (const std::logic_error &) {
				kept[i] = std::current_exception();
			}
		});
	for (auto &t : threads)
		t.join();
	for (int i = 0; i < 3; i++)
		try {
			std::rethrow_exception(kept[i]);
		} catch (const std::exception &e) {
			std::printf("%s %d\n", e.what(), counts[i]);
		}
}
