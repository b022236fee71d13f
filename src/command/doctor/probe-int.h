/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares the probes of `raddle doctor`, for use inside doctor/.  Each probe checks one item.  It
 * gets the item with `name`, `used_by` and `needed` filled in and DOCTOR_OK as its status.  It
 * sets `found` and, if something is missing, `status`, `means` and `advice`.
 */
#ifndef DOCTOR_PROBE_INT_H
#define DOCTOR_PROBE_INT_H

#include "doctor/doctor.h"

typedef void doctor_probe(struct doctor_item *item);

/* Sets the status, the consequence and the advice of an item.  `status` is not DOCTOR_OK. */
void doctor_conclude(struct doctor_item *item, enum doctor_status status, const char *means,
		     const char *advice);

/* tools.c: programs and files */
doctor_probe doctor_compiler, doctor_cxx, doctor_linkers, doctor_instrumenter, doctor_support_files,
	doctor_gdb;

/* kernel.c: abilities of the kernel and the processor */
doctor_probe doctor_memfd, doctor_watchpoints, doctor_counters, doctor_intel_pt, doctor_ptrace;

/* system.c: the environment */
doctor_probe doctor_machine, doctor_surroundings, doctor_cache, doctor_limits, doctor_aslr, doctor_cores;

#endif
