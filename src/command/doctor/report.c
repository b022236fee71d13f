// SPDX-License-Identifier: Apache-2.0
/*
 * The examination.  It runs the probes of the table below, in the order in which users need the
 * features, and collects the resulting items.  Messages of libraries are suppressed meanwhile,
 * because a failure is a result here.
 */
#include "doctor/doctor.h"

#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "doctor/probe-int.h"

#include <stdlib.h>

static const struct {
	const char *name, *used_by;
	bool needed;
	doctor_probe *probe;
} probes[] = {
	{"compiler", "cc, record", true, doctor_compiler},
	{"C++", "c++", false, doctor_cxx},
	{"linkers", "cc, record", true, doctor_linkers},
	{"raddle-instr", "record", true, doctor_instrumenter},
	{"runtime", "record", true, doctor_support_files},
	{"cache", "record", true, doctor_cache},
	{"memfd", "record", true, doctor_memfd},
	{"limits", "record", false, doctor_limits},
	{"mmap_rnd_bits", "record", false, doctor_aslr},
	{"ptrace", "replay --gdb", false, doctor_ptrace},
	{"gdb", "replay --gdb", false, doctor_gdb},
	{"watchpoints", "sketch", false, doctor_watchpoints},
	{"Intel PT", "sketch", false, doctor_intel_pt},
	{"counters", "bench", false, doctor_counters},
	{"core files", "sketch", false, doctor_cores},
	{"machine", "all", false, doctor_machine},
	{"surroundings", "all", false, doctor_surroundings},
};

void doctor_conclude(struct doctor_item *item, enum doctor_status status, const char *means,
		     const char *advice)
{
	RD_ASSERT(status != DOCTOR_OK && means != NULL);
	item->status = status;
	item->means = means;
	item->advice = advice;
}

void doctor_examine(struct doctor_report *report)
{
	struct rd_context quiet = {.log = rd_log_discard};

	*report = (struct doctor_report){.ready = true};
	rd_context_enter(&quiet);
	for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
		struct doctor_item *item;

		RD_GROW(report->items, report->capacity, report->count + 1);
		item = &report->items[report->count++];
		*item = (struct doctor_item){
			.name = probes[i].name, .used_by = probes[i].used_by, .needed = probes[i].needed};
		probes[i].probe(item);
		RD_ASSERT(item->found && (item->status == DOCTOR_OK || item->means));
		if (item->needed && item->status == DOCTOR_MISSING)
			report->ready = false;
	}
	rd_context_leave(&quiet);
}

void doctor_report_release(struct doctor_report *report)
{
	RD_FREE_EACH(report->items, report->count, .found);
	free(report->items);
	*report = (struct doctor_report){0};
}

const char *doctor_status_name(enum doctor_status status)
{
	static const char *const names[] = {"ok", "limited", "missing"};

	return names[status];
}
