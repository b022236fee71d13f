/* SPDX-License-Identifier: Apache-2.0 */
/* Inside rt/steer/: what the program gives to the outside (raddle/written.h). */
#ifndef RT_STEER_WRITTEN_INT_H
#define RT_STEER_WRITTEN_INT_H

#include <stdbool.h>
#include <sys/socket.h>

/* Notes an open file.  If `appends` is set, what it contains now does not come from this run. */
void rt_written_file(int fd, bool appends);
void rt_written_datagram(const struct msghdr *message); /* with the receiver's address */

#endif
