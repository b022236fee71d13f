// SPDX-License-Identifier: Apache-2.0
/* Prints the results of replays.  In: the counts and details of the runs.  Out: lines of text for
 * the user. */
#include "replay/repeat.h"

#include <inttypes.h>

bool replay_is_order(const struct schedule *s)
{
	return s && !s->goal_count && !s->stop_count;
}

void replay_say_turns(const struct replay_repeat *t, FILE *out)
{
	fprintf(out,
		"raddle: the threads took turns: %" PRIu64 " choices, %zu of them decided, trail %016" PRIx64
		"\n",
		t->turns.choices, t->turns.made_count, t->turns.trail);
	if (t->turns.unsure)
		fprintf(out,
			"raddle: %" PRIu64
			" times a thread waited for something outside, which may be different next time\n",
			t->turns.unsure);
	if (t->strayed.length)
		fprintf(out, "raddle: the run left the schedule: %s\n", t->strayed.data);
}

void replay_say_outside(const struct replay_repeat *t, FILE *out)
{
	const struct replay_outside *o = &t->outside;

	if (o->arrivals || o->connections)
		fprintf(out,
			"raddle: replayed: %" PRIu64 " of %" PRIu64 " arrivals from outside\n"
			"raddle: sent: %zu bytes, digest %016" PRIx64 "; %" PRIu64 " of %" PRIu64
			" connections as in the recorded run\n",
			o->arrived, o->arrivals, o->sent_length, o->digest, o->same, o->connections);
	if (t->lack.length)
		fprintf(out, "raddle: unmodelled: %s\n", t->lack.data);
}

void replay_say_count(const struct replay_repeat *t, FILE *out)
{
	fprintf(out, "raddle: reproduced in %" PRIu64 " of %" PRIu64 " replays", t->reproduced, t->runs);
	for (unsigned i = 0; i < REPLAY_OUTCOMES; i++)
		if (t->outcomes[i] && i != REPLAY_CONFIRMED)
			fprintf(out, ", %" PRIu64 " %s", t->outcomes[i], replay_outcome_name(i));
	fputc('\n', out);
}

void replay_say_order(const struct replay_repeat *t, FILE *out)
{
	const struct finding *f = t->finding;

	fprintf(out, "raddle: the order of the schedule was %s\n", t->reproduced ? "kept" : "not kept");
	if (f->reason)
		fprintf(out, "raddle: %s\n", f->reason);
	if (t->debug && !t->gdb.pid)
		fputs("raddle: gdb was not started: the program got no fatal signal that it does not "
		      "handle, and no thread was left waiting\n",
		      out);
	for (size_t i = 0; i < f->note_count; i++)
		fprintf(out, "raddle: %s\n", f->notes[i]);
}
