// SPDX-License-Identifier: Apache-2.0
/* A container of the standard library that two threads use without a lock.  Races on its nodes, its
 * size and its buckets are one bug. */
#include <cstdio>
#include <map>
#include <string>
#include <thread>

static std::map<std::string, int> cache;

static void fill(int from)
{
	for (int i = 0; i < 3; i++)
		cache["key" + std::to_string(from + i)] = i;
}

int main()
{
	std::thread first(fill, 0), second(fill, 10);

	first.join();
	second.join();
	std::printf("%zu entries\n", cache.size());
	return 0;
}
