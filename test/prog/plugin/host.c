/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the plug-in that the first argument names; two threads call its work().  With a second
 * argument the threads run one after the other, so that nothing races.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static int (*work)(int);

static void *run(void *unused)
{
	work(1);
	return unused;
}

int main(int argc, char **argv)
{
	void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	pthread_t t[2];
	Dl_info info;

	if (!plugin) {
		fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "which plug-in?");
		return 3;
	}
	work = (int (*)(int))dlsym(plugin, "work");
	if (!work || dlopen(argv[1], RTLD_NOW) != plugin || !dladdr((void *)work, &info))
		return 4;
	for (int i = 0; i < 2; i++) {
		pthread_create(&t[i], NULL, run, NULL);
		if (argc > 2)
			pthread_join(t[i], NULL);
	}
	for (int i = 0; i < 2 && argc == 2; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", work(0));
	return 0;
}
