// SPDX-License-Identifier: Apache-2.0
/* Threads call functions that dlsym() finds in a library loaded by dlopen(). */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void *library;

static void *work(void *argument)
{
	double (*f)(double) = (double (*)(double))dlsym(library, argument);
	double sum = 0;
	for (int i = 0; i < 10 && f; i++)
		sum += f(i * 0.25);
	return (void *)(long)(sum * 1000);
}

int main(void)
{
	static char *names[] = {"cos", "sqrt", "nothing"};
	pthread_t t[3];
	library = dlopen("libm.so.6", RTLD_NOW);
	if (!library)
		return 2;
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, names[i]);
	for (int i = 0; i < 3; i++) {
		void *r;
		pthread_join(t[i], &r);
		printf("%ld\n", (long)r);
	}
	dlclose(library);
	return 0;
}
