// SPDX-License-Identifier: Apache-2.0
// objects: *result_on_the_stack_of_T_0 struct_slot.value_on_the_stack_of_T_0
/* Only other threads access these variables of main(), so no recorded access names them. */
#include <pthread.h>

struct slot {
	long spare;
	int value;
};

static void *set(void *argument)
{
	int *result = argument;

	*result = 1;
	return NULL;
}

static void *fill(void *argument)
{
	struct slot *s = argument;

	s->value = 1;
	return NULL;
}

int main(void)
{
	pthread_t threads[4];
	struct slot slots[2];
	int result;

	for (int i = 0; i < 4; i++)
		if (i < 2)
			pthread_create(&threads[i], NULL, set, &result);
		else
			pthread_create(&threads[i], NULL, fill, &slots[1]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
