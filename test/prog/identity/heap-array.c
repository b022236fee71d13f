// SPDX-License-Identifier: Apache-2.0
// objects: struct_message.bytes[] struct_slot[].owner struct_slot[].use[]
/* The heap contains structs in an array, which contain arrays, and a flexible array member. */
#include <pthread.h>
#include <stdlib.h>

struct slot {
	int owner;
	short use[6];
};
struct message {
	size_t length;
	char bytes[];
};

static struct slot *slots;
static struct message *message;

static void *work(void *argument)
{
	for (int i = 0; i < 8; i++) {
		slots[i].owner = (int)(size_t)argument;
		slots[i].use[i % 6]++;
	}
	for (size_t i = 0; i < message->length; i++)
		message->bytes[i]++;
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	slots = calloc(8, sizeof *slots);
	message = calloc(1, sizeof *message + 16);
	message->length = 16;
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, (void *)(size_t)i);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	free(slots);
	free(message);
	return 0;
}
