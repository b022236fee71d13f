/* SPDX-License-Identifier: Apache-2.0 */
/* Filters text that is printed for people: control characters are replaced (base/printable.h). */
#ifndef BASE_TERMINAL_H
#define BASE_TERMINAL_H

#include <stddef.h>

/* Opens those of the standard streams that are closed.  Otherwise the next file that Raddle opens
 * would get the descriptor of such a stream, and messages would be written to that file.  The
 * streams are opened in the wrong direction (standard output for reading), so that using them
 * still fails. */
void rd_terminal_occupy(void);

/* From now on, control characters printed to standard error are replaced. */
void rd_terminal_stderr(void);

/* From now on, control characters printed to standard output are replaced, too.  For commands that
 * print text there. */
void rd_terminal_stdout(void);

/* Replaces control characters by question marks, except for the colours of our reports. */
void rd_terminal_clean(char *text, size_t length);

#endif
