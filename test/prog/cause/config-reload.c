// expect: config_used k-witness-harmless -
// expect: config output-differs output
// Kind c: config_used is only ever set to 1; the geometry in config is read
// while it is being reloaded (old, new or torn area is printed).
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

struct geometry {
	int width;
	int height;
};

struct geometry config = {4, 3};
int config_used; /* redundant writes of 1, not printed */
int area[2];	 /* one slot for each reader */

static void *reader(void *arg)
{
	int me = (int)(intptr_t)arg;
	int w, h;

	config_used = 1;   /* racy, harmless */
	w = config.width;  /* racy */
	h = config.height; /* racy */
	area[me] = w * h;
	return NULL;
}

static void *reload(void *arg)
{
	(void)arg;
	config.width = 8;  /* racy */
	config.height = 6; /* racy */
	return NULL;
}

int main(void)
{
	pthread_t r0, r1, w;
	pthread_create(&r0, NULL, reader, (void *)(intptr_t)0);
	pthread_create(&w, NULL, reload, NULL);
	pthread_create(&r1, NULL, reader, (void *)(intptr_t)1);
	pthread_join(r0, NULL);
	pthread_join(r1, NULL);
	pthread_join(w, NULL);
	printf("areas %d %d\n", area[0], area[1]);
	return 0;
}
