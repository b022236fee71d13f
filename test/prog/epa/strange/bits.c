// SPDX-License-Identifier: Apache-2.0
/* Threads use bit-fields and packed structures. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct flags {
	unsigned kind : 3, level : 5;
	int delta : 9;
	unsigned long long wide : 40;
};

struct __attribute__((packed)) wire {
	uint8_t tag;
	uint32_t length;
	uint64_t stamp;
	uint16_t sum;
};

static void *work(void *argument)
{
	long me = (long)argument, sum = 0;
	struct flags f = {0};
	struct wire w;
	unsigned char bytes[sizeof w];
	for (int i = 0; i < 12; i++) {
		f.kind = (unsigned)i;
		f.level += f.kind;
		f.delta -= i * (int)me;
		f.wide = f.wide << 3 | f.level;
		w = (struct wire){f.kind, f.level, f.wide, (uint16_t)(f.delta & 0x1ff)};
		memcpy(bytes, &w, sizeof w);
		for (size_t k = 0; k < sizeof bytes; k++)
			sum = (sum * 31 + bytes[k]) % 1000003;
	}
	return (void *)sum;
}

int main(void)
{
	pthread_t t[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *)(i + 3));
	for (int i = 0; i < 2; i++) {
		void *r;
		pthread_join(t[i], &r);
		printf("%ld\n", (long)r);
	}
	return 0;
}
