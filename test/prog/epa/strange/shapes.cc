// SPDX-License-Identifier: Apache-2.0
/* Two threads make virtual calls through base classes, templates and smart pointers. */
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
	int weight = 1;
};
struct square : shape {
	explicit square(double s) : side(s) {}
	double area() const override { return side * side; }
	double side;
};
struct circle : shape {
	explicit circle(double r) : radius(r) { weight = 2; }
	double area() const override { return 3.25 * radius * radius; }
	double radius;
};

template <typename T> static T total(const std::vector<std::unique_ptr<shape>> &list, T start)
{
	for (auto &s : list)
		start += static_cast<T>(s->area() * s->weight);
	return start;
}

int main()
{
	double sums[2];
	auto work = [&sums](int me) {
		std::vector<std::unique_ptr<shape>> list;
		for (int i = 0; i < 8; i++)
			if ((i + me) % 2)
				list.push_back(std::make_unique<square>(i));
			else
				list.push_back(std::make_unique<circle>(i * 0.5));
		sums[me] = total(list, 0.0) + static_cast<double>(total(list, 0L));
	};
	std::thread a(work, 0), b(work, 1);
	a.join();
	b.join();
	std::printf("%g %g\n", sums[0], sums[1]);
}
