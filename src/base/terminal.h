/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is printed for people goes through base/printable.h. */
#ifndef BASE_TERMINAL_H
#define BASE_TERMINAL_H

#include <stddef.h>

/* Opens the standard streams that are closed: the next file that is opened would get the number of one, and
 * then our messages.  Opened the wrong way round, writing still fails. */
void rd_terminal_occupy(void);

/* From now on what is printed to standard error controls no terminal. */
void rd_terminal_stderr(void);

/* The same for standard output, of a command that prints text there. */
void rd_terminal_stdout(void);

/* What they do to a text: control characters become question marks, but for the colours of our reports. */
void rd_terminal_clean(char *text, size_t length);

#endif
