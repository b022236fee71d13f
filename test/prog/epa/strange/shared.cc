// SPDX-License-Identifier: Apache-2.0
/* Threads share a list made of std::shared_ptr and std::weak_ptr. */
#include <cstdio>
#include <memory>
#include <thread>

struct node {
	int value;
	std::shared_ptr<node> next;
	std::weak_ptr<node> back;
};

static std::shared_ptr<node> make(int n)
{
	std::shared_ptr<node> head;
	for (int i = 0; i < n; i++) {
		auto p = std::make_shared<node>();
		p->value = i;
		p->next = head;
		if (head)
			head->back = p;
		head = p;
	}
	return head;
}

int main()
{
	auto list = make(9);
	long sums[3] = {0, 0, 0};
	std::thread threads[3];
	for (int i = 0; i < 3; i++)
		threads[i] = std::thread([i, list, &sums] {
			for (const node *p = list.get(); p; p = p->next.get())
				sums[i] = sums[i] * (i + 2) % 10007 + p->value;
		});
	for (auto &t : threads)
		t.join();
	std::printf("%ld %ld %ld\n", sums[0], sums[1], sums[2]);
}
