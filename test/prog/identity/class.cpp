// SPDX-License-Identifier: Apache-2.0
// objects: shop::Account.balance shop::Account.history_len shop::total
// Threads change members of a C++ class on the heap, of its base class and of a namespace.
#include <memory>
#include <thread>
#include <vector>

namespace shop {
int total;

struct Base {
	virtual ~Base() = default;
	long balance = 0;
};

struct Account : Base {
	int history_len = 0;
	void deposit(long amount)
	{
		balance += amount;
		history_len++;
		total++;
	}
};
} // namespace shop

int main()
{
	std::vector<std::thread> threads;
	auto account = std::make_unique<shop::Account>();

	for (int i = 0; i < 3; i++)
		threads.emplace_back([&account] { account->deposit(5); });
	for (auto &t : threads)
		t.join();
	return 0;
}
