// SPDX-License-Identifier: Apache-2.0
/* `raddle hive`: hands over to raddle-hive (cmd/hive/). */
#include "cmd/cmd-int.h"
#include "cmd/handover-int.h"

int cmd_hive(int argc, char **argv)
{
	(void)argc;
	return cmd_hand_over("raddle-hive", argv);
}
