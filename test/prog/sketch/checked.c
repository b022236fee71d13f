// SPDX-License-Identifier: Apache-2.0
/* After MySQL's thd->proc_info: a pointer is set to NULL between its test and its use. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char *volatile proc_info = "sorting";

static void *show(void *unused)
{
	if (proc_info)
		printf("%zu\n", strlen(proc_info));
	return unused;
}

static void *end(void *unused)
{
	proc_info = NULL;
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, show, NULL);
	pthread_create(&b, NULL, end, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
