// SPDX-License-Identifier: Apache-2.0
/* `raddle site`: hands over to raddle-site (cmd/site/). */
#include "cmd/cmd-int.h"
#include "cmd/handover-int.h"

int cmd_site(int argc, char **argv)
{
	(void)argc;
	return cmd_hand_over("raddle-site", argv);
}
