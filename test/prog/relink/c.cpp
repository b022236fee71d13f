// SPDX-License-Identifier: Apache-2.0
/* The C++ file of the program that is hard to relink; see a.c. */
#include "relink.h"

#include <stdexcept>
#include <string>

static int thrower(int x)
{
	if (x > 1)
		throw std::runtime_error(std::string(static_cast<size_t>(x), 'x'));
	return x;
}

int try_catch(void)
{
	int result = count_up<int>();
	try {
		result += pass_through(thrower, 5);
	} catch (const std::exception &e) {
		result += static_cast<int>(std::string(e.what()).size()) * 10;
	}
	return result + inline_variable * 1000;
}
