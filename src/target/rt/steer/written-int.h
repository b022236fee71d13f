/* SPDX-License-Identifier: Apache-2.0 */
/* Inside rt/steer/: what the program gives to the outside (raddle/written.h). */
#ifndef RT_STEER_WRITTEN_INT_H
#define RT_STEER_WRITTEN_INT_H

#include <stdbool.h>
#include <sys/socket.h>

/* The file is open.  If `appends` is set, its content does not come from this run. */
void rt_written_file(int fd, bool appends);
void rt_written_datagram(const struct msghdr *message); /* the message has the receiver's address */

#endif
