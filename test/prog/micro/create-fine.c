// SPDX-License-Identifier: Apache-2.0
// expect: none
// drop: deadlock heap,list 1
// drop: race heap 2
// recorded: the object is made and listed before the other thread looks at the list.
/* google/sanitizers #1163: the object is put into the list while its lock is held.  Before that,
 * no other thread can know the lock. */
#include "case.h"

struct object {
	pthread_mutex_t lock;
	int value;
};
MUTEX(list);
static struct object *listed;
THREAD(create)
{
	UNUSED;
	struct object *o = calloc(1, sizeof *o);

	pthread_mutex_init(&o->lock, NULL);
	LOCK(o->lock);
	LOCK(list);
	listed = o;
	UNLOCK(list);
	o->value = 7;
	UNLOCK(o->lock);
	return NULL;
}
THREAD(visit)
{
	UNUSED;
	LOCK(list);
	if (listed) {
		LOCK(listed->lock);
		listed->value++;
		UNLOCK(listed->lock);
	}
	UNLOCK(list);
	return NULL;
}
int main(void)
{
	run_two(create, visit);
	return listed->value < 7;
}
