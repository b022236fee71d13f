// SPDX-License-Identifier: Apache-2.0
/* Signals that end a task.  When the task checks, it receives the number of a pending signal. */
#include "base/interrupt.h"

#include <stddef.h>
#include <time.h>

void rd_interrupt_begin(struct rd_interrupt *i)
{
	sigemptyset(&i->signals);
	sigaddset(&i->signals, SIGINT);
	sigaddset(&i->signals, SIGTERM);
	sigaddset(&i->signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &i->signals, &i->before);
}

void rd_interrupt_end(const struct rd_interrupt *i)
{
	sigprocmask(SIG_SETMASK, &i->before, NULL);
}

int rd_interrupt_wait(const struct rd_interrupt *i, uint32_t milliseconds)
{
	struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
	int signal = sigtimedwait(&i->signals, NULL, &time);

	return signal > 0 ? signal : 0;
}
