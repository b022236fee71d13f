// SPDX-License-Identifier: Apache-2.0
// The second source file of the `cxx` torture program; see cxx.cpp.
#include "cxx.h"
#include <vector>

namespace
{

struct square : shape {
	explicit square(double s) : side(s)
	{
	}
	double area() const override
	{
		return side * side;
	}
	double side;
};

struct tracked {
	int value = 100;
	~tracked()
	{
		value = 0;
	}
};

thread_local tracked per_thread;

} // namespace

int throw_if(int x)
{
	std::vector<std::string> frame(3, "destroyed while unwinding");
	if (x == 1)
		throw custom_error("one", 11);
	if (x == 2)
		throw std::out_of_range("two");
	if (x == 3)
		throw 33;
	return static_cast<int>(frame.size());
}

int alive_elsewhere()
{
	counted<int> here(4);
	return counted<int>::alive;
}

shape *make_square(double side)
{
	return new square(side);
}

int next_thread_local()
{
	return ++per_thread.value;
}
