// SPDX-License-Identifier: Apache-2.0
// Two threads use a std::string, whose members libstdc++ instantiates.  They race in "assign",
// "append", "clear" and "copy"; they have a lock in "locked", and write to one stream in "streams".
#include <cstring>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

static std::string shared;
static std::mutex lock;
static size_t length;

static void assign(int id)
{
	shared = "thread " + std::to_string(id);
}

static void append(int id)
{
	shared += std::to_string(id) + ", which is too long for the string itself";
}

static void clear(int id)
{
	if (id == 1)
		shared.clear();
	else
		shared.push_back('x');
}

static void copy(int id)
{
	if (id == 1) {
		shared.assign("another one");
	} else {
		std::string own(shared);

		length = own.size();
	}
}

static void locked(int id)
{
	std::lock_guard<std::mutex> guard(lock);

	assign(id);
	append(id);
	clear(id);
	copy(id);
}

static void streams(int id)
{
	std::ostringstream own;

	own << "thread " << id << '\n';
	std::cout << own.str() << id << std::endl;
}

int main(int argc, char **argv)
{
	void (*const all[])(int) = {assign, append, clear, copy, locked, streams};
	const char *const names[] = {"assign", "append", "clear", "copy", "locked", "streams"};

	for (int i = 0; i < 6; i++)
		if (argc > 1 && !strcmp(argv[1], names[i])) {
			std::thread first(all[i], 1), second(all[i], 2);
			first.join();
			second.join();
		}
	return 0;
}
