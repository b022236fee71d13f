/* SPDX-License-Identifier: Apache-2.0 */
/* What is printed for people goes through base/printable.h on its way. */
#ifndef CMD_TERMINAL_H
#define CMD_TERMINAL_H

/* From now on what is printed to standard error controls no terminal. */
void cmd_terminal_stderr(void);

/* The same for standard output, of a command that prints text there. */
void cmd_terminal_stdout(void);

#endif
