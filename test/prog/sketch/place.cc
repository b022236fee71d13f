// SPDX-License-Identifier: Apache-2.0
/* Crashes that are not at the last access to a global variable.  The argument selects where: in the
 * C library, in code of a header, in a function of the program, or in abort(). */
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <pthread.h>

static const char *volatile name;
static int *volatile numbers;
static volatile int steps;

static int library()
{
	const char *text = name;

	steps = 1;
	return static_cast<int>(std::strlen(text)); // fails
}

static int header()
{
	int *from = numbers;

	steps = 2;
	return std::accumulate(from, from + 3, 0); // fails
}

static int own()
{
	int *from = numbers;

	steps = 3;
	return from[1]; // fails
}

static int sent()
{
	steps = 4;
	std::abort(); // fails
}

static void *work(void *which)
{
	switch (*static_cast<const char *>(which)) {
	case 'l': steps = library(); break;
	case 'h': steps = header(); break;
	case 'o': steps = own(); break;
	default: steps = sent(); break;
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc < 2)
		return 0;
	pthread_create(&t, nullptr, work, argv[1]);
	pthread_join(t, nullptr);
	return 0;
}
