// SPDX-License-Identifier: Apache-2.0
/* Runs a main loop of GLib.  Threads of a pool add sources to it; with an argument, there is also a
 * timeout (test/cli/one-lib.sh). */
#include <glib.h>
#include <stdio.h>

enum { ITEMS = 3 };

static GMainLoop *loop;
static int idle, ticked;
static gint worked;

static gboolean on_idle(gpointer unused)
{
	(void)unused;
	if (++idle == ITEMS)
		g_main_loop_quit(loop);
	return G_SOURCE_REMOVE;
}

static gboolean on_time(gpointer unused)
{
	(void)unused;
	ticked++;
	return G_SOURCE_REMOVE;
}

static void work(gpointer item, gpointer unused)
{
	(void)item;
	(void)unused;
	g_atomic_int_inc(&worked);
	g_idle_add(on_idle, NULL);
}

int main(int argc, char **argv)
{
	GThreadPool *pool = g_thread_pool_new(work, NULL, 2, TRUE, NULL);

	loop = g_main_loop_new(NULL, FALSE);
	(void)argv;
	if (argc > 1)
		g_timeout_add(1, on_time, NULL);
	for (int i = 1; i <= ITEMS; i++)
		g_thread_pool_push(pool, GINT_TO_POINTER(i), NULL);
	g_main_loop_run(loop);
	g_thread_pool_free(pool, FALSE, TRUE);
	printf("%d %d\n", idle, g_atomic_int_get(&worked));
	return idle != ITEMS || g_atomic_int_get(&worked) != ITEMS || ticked > 1;
}
