// SPDX-License-Identifier: Apache-2.0
/*
 * The directory of a check.  In: the name that the user chose.  Out: a claim on the directory.  It
 * contains everything worth keeping: traces, schedules, findings.json, and the input if it came
 * through a pipe.  A directory with files but without a sign of a check is never touched.
 */
#include "check/check.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "record/prepare.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns true if the name is one that a check gives to its schedules: ID.schedule,
 * ID.witness.schedule or ID.witness-2.schedule. */
static bool is_schedule(const char *name)
{
	static const char end[] = ".schedule";
	size_t length = strlen(name);

	return strspn(name, "0123456789abcdef") == FINDING_ID_SIZE - 1 && length >= sizeof end &&
	       strcmp(name + length - sizeof end + 1, end) == 0;
}

static bool is_old_trace(const char *directory, const char *name)
{
	char *path = rd_xasprintf("%s/%s/meta.json", directory, name);
	size_t digits = strspn(name + strcspn(name, "0123456789"), "0123456789");
	bool old = strncmp(name, "trace-", 6) == 0 && strlen(name) == 6 + digits && rd_file_exists(path);

	free(path);
	return old;
}

/* Returns true if the directory does not exist or is empty. */
static bool is_empty(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	bool empty = true;

	if (!d)
		return errno == ENOENT;
	while (empty && (entry = readdir(d)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	closedir(d);
	return empty;
}

/* Returns true if the file begins like a findings document (doc/format/finding.md). */
static bool is_findings(const char *path)
{
	char start[64];
	int end = 0;

	start[rd_file_head(path, start, sizeof start - 1)] = '\0';
	sscanf(start, " { \"version\" : %*u , \"raddle\" : \"%n", &end);
	return end > 0;
}

/* Returns true if the directory is empty or belongs to a check, as its findings or its claim file
 * show.  The claim file is looked for last.  A check that starts at the same time creates its claim
 * before any other file.  So if one of its files is seen, its claim is seen too. */
static bool is_free(const char *path)
{
	char *findings = rd_xasprintf("%s/findings.json", path);
	bool ours = is_empty(path) || is_findings(findings) || rd_claim_marks(path);

	free(findings);
	return ours;
}

static int remove_old(const struct check *c, const char *name)
{
	char *path = check_path(c, name);
	int err = RD_OK;

	if (is_schedule(name) || strcmp(name, "stdin") == 0)
		unlink(path);
	else if (is_old_trace(c->claim.path, name) && !(err = record_prepare_directory(path, true)))
		rmdir(path);
	free(path);
	return err;
}

int check_directory(struct check *c, const char *path, bool elsewhere)
{
	struct dirent *entry;
	DIR *d = NULL;
	int err;

	if (!is_free(path))
		return rd_fail(RD_EUSAGE,
			       "%s: it exists and was not made by raddle check; name another directory",
			       path);
	err = rd_claim(&c->claim, path, elsewhere);
	if (!err && !(d = opendir(c->claim.path)))
		err = rd_fail_errno("check: %s", c->claim.path);
	while (!err && (entry = readdir(d)))
		err = remove_old(c, entry->d_name);
	if (d)
		closedir(d);
	return err;
}
