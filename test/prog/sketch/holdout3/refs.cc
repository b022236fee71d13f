// SPDX-License-Identifier: Apache-2.0
/* C++: the count is decremented and then read again, so both owners may find zero and delete. */
#include <pthread.h>
#include <cstdio>

struct image {
	volatile int owners = 2;
	int *pixels = new int[16]();

	~image()
	{
		delete[] pixels;
	}
};

static void release(image *i)
{
	__atomic_fetch_sub(&i->owners, 1, __ATOMIC_SEQ_CST);
	if (i->owners == 0)
		delete i;
}

static void *use(void *i)
{
	release(static_cast<image *>(i));
	return nullptr;
}

int main()
{
	pthread_t a, b;
	image *shared = new image;

	pthread_create(&a, nullptr, use, shared);
	pthread_create(&b, nullptr, use, shared);
	pthread_join(a, nullptr);
	pthread_join(b, nullptr);
	std::puts("done");
	return 0;
}
