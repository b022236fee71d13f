// SPDX-License-Identifier: Apache-2.0
/* Two threads use std::map, std::set, std::string and std::deque. */
#include <cstdio>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <thread>

static long work(const std::string &text)
{
	std::map<std::string, int> words;
	std::set<char> letters;
	std::deque<int> lengths;
	std::string word;
	for (char c : text + " ") {
		if (c != ' ') {
			word += c;
			letters.insert(c);
			continue;
		}
		words[word]++;
		lengths.push_front(static_cast<int>(word.size()));
		word.clear();
	}
	long sum = 0;
	for (auto &w : words)
		sum = sum * 7 % 100003 + w.second * static_cast<long>(w.first.size());
	for (char c : letters)
		sum += c;
	while (!lengths.empty()) {
		sum = sum * 3 % 100003 + lengths.back();
		lengths.pop_back();
	}
	return sum;
}

int main()
{
	long a = 0, b = 0;
	std::thread t([&a] { a = work("how much wood would a woodchuck chuck"); });
	std::thread u([&b] { b = work("if a woodchuck could chuck wood today"); });
	t.join();
	u.join();
	std::printf("%ld %ld\n", a, b);
}
