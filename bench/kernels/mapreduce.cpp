// SPDX-License-Identifier: Apache-2.0
/*
 * Map and reduce with the C++ library: std::thread workers take slices from a
 * std::mutex-guarded deque, fill std::unordered_map and std::map objects, and
 * hand them over through std::promise; a reducer joins them.
 * SIZE is the number of records in thousands.
 */
#include <cinttypes>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace
{

constexpr long slice_records = 5000;

using counts = std::unordered_map<std::string, long>;

struct slice {
	long first, end;
	std::promise<counts> result;
};

std::uint64_t random_value(std::uint64_t seed)
{
	std::uint64_t z = (seed + 1) * 0x9e3779b97f4a7c15ull;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	return z ^ (z >> 27);
}

class board
{
      public:
	std::future<counts> add(long first, long end)
	{
		auto s = std::make_unique<slice>();
		s->first = first;
		s->end = end;
		auto future = s->result.get_future();
		std::lock_guard<std::mutex> guard(lock);
		slices.push_back(std::move(s));
		changed.notify_one();
		return future;
	}

	void close()
	{
		std::lock_guard<std::mutex> guard(lock);
		closed = true;
		changed.notify_all();
	}

	std::unique_ptr<slice> take()
	{
		std::unique_lock<std::mutex> guard(lock);
		changed.wait(guard, [this] { return closed || !slices.empty(); });
		if (slices.empty())
			return nullptr;
		auto s = std::move(slices.front());
		slices.pop_front();
		return s;
	}

      private:
	std::mutex lock;
	std::condition_variable changed;
	std::deque<std::unique_ptr<slice>> slices;
	bool closed = false;
};

counts map_slice(const slice &s)
{
	counts result;
	for (long i = s.first; i < s.end; i++) {
		std::uint64_t r = random_value(i);
		std::string key = "key-" + std::to_string(r % 1000 * (r >> 32 & 7));
		result[key] += static_cast<long>(r >> 40 & 15);
	}
	return result;
}

void worker(board &b)
{
	while (auto s = b.take())
		s->result.set_value(map_slice(*s));
}

} // namespace

int main(int argc, char **argv)
{
	long size = argc > 1 && !std::strcmp(argv[1], "bench") ? 2500
		    : argc > 1 && std::strcmp(argv[1], "test") ? std::atol(argv[1])
							       : 50;
	int threads = argc > 2 ? std::atoi(argv[2]) : 2;
	board b;
	std::vector<std::thread> workers;
	for (int i = 0; i < threads; i++)
		workers.emplace_back(worker, std::ref(b));
	std::vector<std::future<counts>> results;
	for (long first = 0; first < size * 1000; first += slice_records)
		results.push_back(b.add(first, first + slice_records));
	b.close();
	std::map<std::string, long> total;
	for (auto &result : results)
		for (const auto &entry : result.get())
			total[entry.first] += entry.second;
	for (auto &thread : workers)
		thread.join();
	std::uint64_t sum = 0;
	for (const auto &entry : total)
		for (char c : entry.first)
			sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3ull +
			      static_cast<std::uint64_t>(entry.second);
	std::printf("mapreduce %016" PRIx64 "\n", sum);
}
