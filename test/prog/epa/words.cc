/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts words with the C++ library.  Each std::thread has a part of the text, a map that grows on
 * the heap, and readers with a virtual function.  A reader throws an exception for a bad word,
 * which read_line() catches, and at the end of a line, which count() catches.
 *
 *	words [LINES [THREADS]]	prints the words and how often they occurred
 */
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace
{
const char *const vocabulary[] = {"a",	 "thread", "wrote", "what",  "another",
				  "one", "reads",  "#3",    "later", "!"};

/* Returns a line of the text, which is the same in every run. */
std::string line_of(unsigned number)
{
	std::string line;
	for (unsigned seed = number + 1, i = 0; i < 3 + number % 7; i++) {
		seed = seed * 1103515245u + 12345u;
		line += vocabulary[(seed >> 16) % 10];
		line += ' ';
	}
	return line;
}

struct bad_word : std::runtime_error {
	using std::runtime_error::runtime_error;
};

struct end_of_line : std::exception {
};

class reader
{
      public:
	virtual ~reader() = default;
	virtual std::string word(const std::string &line, size_t &at) = 0;
};

class plain : public reader
{
      public:
	std::string word(const std::string &line, size_t &at) override
	{
		size_t end = line.find(' ', at);
		if (end == std::string::npos)
			throw end_of_line();
		std::string w = line.substr(at, end - at);
		at = end + 1;
		return w;
	}
};

class careful : public plain
{
      public:
	std::string word(const std::string &line, size_t &at) override
	{
		std::string w = plain::word(line, at);
		if (w[0] == '#')
			throw bad_word(w);
		return w;
	}
};

struct result {
	std::map<std::string, long> counts;
	long bad = 0, letters = 0;
};

void read_line(reader &r, const std::string &line, result &out, std::unordered_map<std::string, int> &lengths)
{
	size_t at = 0;
	for (;;) {
		try {
			std::string w = r.word(line, at);
			out.counts[w]++;
			lengths[w] = (int)w.size();
			out.letters += lengths[w];
		} catch (const bad_word &e) {
			out.bad += (long)std::string(e.what()).size();
		}
	}
}

void count(unsigned first, unsigned last, result &out)
{
	std::unordered_map<std::string, int> lengths;
	for (unsigned i = first; i < last; i++) {
		std::unique_ptr<reader> r;
		if (i % 2 == 0)
			r = std::make_unique<plain>();
		else
			r = std::make_unique<careful>();
		try {
			read_line(*r, line_of(i), out, lengths);
		} catch (const end_of_line &) {
			out.letters++;
		}
	}
}
} // namespace

int main(int argc, char **argv)
{
	unsigned lines = argc > 1 ? (unsigned)atoi(argv[1]) : 24,
		 parts = argc > 2 ? (unsigned)atoi(argv[2]) : 3;
	auto results = std::make_unique<result[]>(parts);
	std::vector<std::thread> threads;
	for (unsigned i = 0; i < parts; i++)
		threads.emplace_back(count, lines * i / parts, lines * (i + 1) / parts, std::ref(results[i]));
	for (std::thread &t : threads)
		t.join();
	result all;
	for (unsigned i = 0; i < parts; i++) {
		for (const auto &[word, n] : results[i].counts)
			all.counts[word] += n;
		all.bad += results[i].bad;
		all.letters += results[i].letters;
	}
	for (const auto &[word, n] : all.counts)
		printf("%s %ld\n", word.c_str(), n);
	printf("%ld letters, %ld bad\n", all.letters, all.bad);
	return 0;
}
