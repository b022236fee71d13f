// SPDX-License-Identifier: Apache-2.0
/* Threads pass pointers, doubles and structures to variadic functions. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct pair {
	int a, b;
};

static long add(const char *what, ...)
{
	va_list list;
	long sum = 0;
	va_start(list, what);
	for (; *what; what++) {
		if (*what == 'i')
			sum += va_arg(list, int);
		else if (*what == 'd')
			sum += (long)(va_arg(list, double) * 2);
		else if (*what == 's')
			sum += (long)strlen(va_arg(list, const char *));
		else if (*what == 'p')
			sum += va_arg(list, struct pair).b;
	}
	va_end(list);
	return sum;
}

static void *work(void *argument)
{
	int n = (int)(long)argument;
	struct pair p = {n, n + 1};
	char text[40];
	long sum = add("idsp", n, n / 2.0, "four", p) * 1000 + add("iiiiiiii", 1, 2, 3, 4, 5, 6, 7, n);
	snprintf(text, sizeof text, "%d %s %.2f", n, "x", n / 3.0);
	return (void *)(sum + (long)strlen(text));
}

int main(void)
{
	pthread_t t[3];
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, (void *)(i * 11));
	for (int i = 0; i < 3; i++) {
		void *r;
		pthread_join(t[i], &r);
		printf("%ld\n", (long)r);
	}
	return 0;
}
