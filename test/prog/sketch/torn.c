// SPDX-License-Identifier: Apache-2.0
/* A torn pair: length is changed before room, so a thread may see new length and old room. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int length = 4;
static int room = 4;

static void *grow(void *unused)
{
	length = 8;
	room = 8;
	return unused;
}

static void *use(void *unused)
{
	int has = room;
	int wants = length;

	assert(wants <= has);
	return unused;
}

int main(void)
{
	pthread_t grower, user;

	pthread_create(&user, NULL, use, NULL);
	pthread_create(&grower, NULL, grow, NULL);
	pthread_join(grower, NULL);
	pthread_join(user, NULL);
	return 0;
}
