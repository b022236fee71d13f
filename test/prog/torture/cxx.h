// SPDX-License-Identifier: Apache-2.0
// Declarations that the two source files of the `cxx` torture program share.
#ifndef CXX_H
#define CXX_H

#include <stdexcept>
#include <string>

struct custom_error : std::runtime_error {
	custom_error(const std::string &what, int number) : std::runtime_error(what), code(number)
	{
	}
	int code;
};

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
	virtual std::string name() const
	{
		return "shape";
	}
};

// A COMDAT: both object files have a copy, and both must use the same counter.
template <class T> struct counted {
	static int alive;
	T value;
	explicit counted(T v) : value(v)
	{
		alive++;
	}
	counted(const counted &o) : value(o.value)
	{
		alive++;
	}
	~counted()
	{
		alive--;
	}
};
template <class T> int counted<T>::alive = 0;

inline int inline_variable = 10;

inline int &static_local()
{
	static int value = inline_variable * 2;
	return value;
}

int throw_if(int x);
int alive_elsewhere();
shape *make_square(double side);
int next_thread_local();

#endif
