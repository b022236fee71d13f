// SPDX-License-Identifier: Apache-2.0
/* Runs a loop of libuv, with work for its thread pool and a handle that another thread notifies;
 * with an argument, there is also a timer (test/cli/one-lib.sh). */
#include <stdio.h>
#include <uv.h>

enum { WORK = 3 };

static uv_async_t async;
static uv_timer_t timer;
static int worked, finished, notified, ticked;
static uv_mutex_t mutex;

static void work(uv_work_t *request)
{
	(void)request;
	uv_mutex_lock(&mutex);
	worked++;
	uv_mutex_unlock(&mutex);
}

static void after(uv_work_t *request, int status)
{
	(void)request;
	(void)status;
	finished++;
}

static void on_async(uv_async_t *handle)
{
	notified++;
	uv_close((uv_handle_t *)handle, NULL);
}

static void on_timer(uv_timer_t *handle)
{
	ticked++;
	uv_close((uv_handle_t *)handle, NULL);
}

static void notify(void *unused)
{
	(void)unused;
	uv_async_send(&async);
}

int main(int argc, char **argv)
{
	uv_loop_t *loop = uv_default_loop();
	uv_work_t requests[WORK];
	uv_thread_t thread;

	uv_mutex_init(&mutex);
	uv_async_init(loop, &async, on_async);
	(void)argv;
	if (argc > 1) {
		uv_timer_init(loop, &timer);
		uv_timer_start(&timer, on_timer, 5, 0);
	}
	for (int i = 0; i < WORK; i++)
		uv_queue_work(loop, &requests[i], work, after);
	uv_thread_create(&thread, notify, NULL);
	uv_run(loop, UV_RUN_DEFAULT);
	uv_thread_join(&thread);
	printf("%d %d %d %d\n", worked, finished, notified, ticked);
	return worked != WORK || finished != WORK || notified != 1 || ticked != (argc > 1);
}
