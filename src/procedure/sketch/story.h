/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stories: the steps of one run that shows a finding, with the values that the threads read and
 * wrote.  The run is made again under the schedule of the finding, and the program is stopped where
 * the memory of the finding is accessed.  Reports show the steps as a timeline.
 */
#ifndef SKETCH_STORY_H
#define SKETCH_STORY_H

#include "finding/finding.h"
#include "trial/trial.h"

/* Returns true if a run of some finding of the set can be made again for a story. */
bool story_has_any(const struct finding_set *set);

/* Makes the runs for the bugs of the set, the worst first, and stores their steps in the findings
 * (`steps`).  A finding stays as it is if its schedule does not decide every turn or does not lead to
 * the same result again, or if its run is long.  `runs` names the flavour `led` of the program. */
void story_tell(const struct replay_conditions *runs, struct finding_set *set);

#endif
