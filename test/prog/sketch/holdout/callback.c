// SPDX-License-Identifier: Apache-2.0
/* A deadlock: the login locks the session and then the listeners, the notifier in the opposite
 * order. */
#include <pthread.h>

static pthread_mutex_t session = PTHREAD_MUTEX_INITIALIZER, listeners = PTHREAD_MUTEX_INITIALIZER;
static int logins, told;

static void *login(void *unused)
{
	pthread_mutex_lock(&session);
	logins++;
	pthread_mutex_lock(&listeners);
	told++;
	pthread_mutex_unlock(&listeners);
	pthread_mutex_unlock(&session);
	return unused;
}

static void *notify(void *unused)
{
	pthread_mutex_lock(&listeners);
	told++;
	pthread_mutex_lock(&session);
	logins--;
	pthread_mutex_unlock(&session);
	pthread_mutex_unlock(&listeners);
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, login, NULL);
	pthread_create(&b, NULL, notify, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
