// SPDX-License-Identifier: Apache-2.0
/* Lambdas that capture references run in std::threads and fill a vector of vectors. */
#include <cstdio>
#include <numeric>
#include <thread>
#include <vector>

int main()
{
	std::vector<std::vector<int>> rows(3);
	std::vector<std::thread> threads;
	std::vector<long> sums(3);
	for (int i = 0; i < 3; i++)
		threads.emplace_back([i, &rows, &sums] {
			for (int k = 0; k < 10 + i; k++)
				rows[i].push_back(k * i + 1);
			sums[i] = std::accumulate(rows[i].begin(), rows[i].end(), 0L);
		});
	for (auto &t : threads)
		t.join();
	std::printf("%ld %ld %ld\n", sums[0], sums[1], sums[2]);
}
