// SPDX-License-Identifier: Apache-2.0
/*
 * The coverage of an exploration, as one HTML page.  The page shows the pairs of conflicting places
 * that were seen in only one order, the pairs that were seen in both orders, and how the number of
 * orders grew with the number of schedules.  It is self-contained and can be read without its
 * script.
 */
#include "report/report.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/file.h"
#include "finding/pair.h"
#include "report/html-int.h"
#include "report/source-int.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 640 /* the width of the curve in pixels */
#define HEIGHT 120
#define LINE 160 /* maximum number of bytes that are shown of a source line */

static const char style[] =
	".pair{background:var(--card);border:1px solid var(--line);border-radius:8px;margin:0 0 10px;"
	"padding:10px 14px}"
	".pair.one{border-left:4px solid var(--amber)}.pair.both{border-left:4px solid var(--green)}"
	".pair h3{font-size:14px;margin:0 0 6px;overflow-wrap:anywhere}"
	".pair .kind{color:var(--dim);font-weight:400}"
	".places{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:4px "
	"18px}"
	".places div{min-width:0;overflow-wrap:anywhere;font-size:13px}"
	".places "
	"code{display:block;white-space:pre-wrap;background:var(--code);border-radius:4px;padding:2px 6px;"
	"margin-top:2px}"
	".order{margin:6px 0 0;font-size:13px;color:var(--dim)}"
	".order b{color:var(--ink)}.order .never{color:var(--amber)}"
	".curve{width:100%;max-width:680px;height:auto;background:var(--card);border:1px solid var(--line);"
	"border-radius:8px;display:block}"
	"h2{font-size:17px;margin:22px 0 10px}.lead{max-width:70ch}";

/* ---- a pair ---- */

static void put_line(const struct finding_frame *place, const char *root, FILE *out)
{
	struct rd_buf text = RD_BUF_INIT;
	const char *line = source_of(place, root, &text) ? source_line(text.data, place->line) : NULL;
	char shown[LINE + 1];
	size_t length;

	while (line && *line != '\n' && isspace((unsigned char)*line))
		line++;
	length = line ? strcspn(line, "\n") : 0;
	length = length < LINE ? length : LINE;
	if (length) {
		memcpy(shown, line, length);
		shown[length] = '\0';
		fputs("<code>", out);
		html_text(out, shown);
		fputs("</code>", out);
	}
	rd_buf_release(&text);
}

static void put_place(const struct finding_frame *place, char name, const char *root, FILE *out)
{
	fprintf(out, "<div><b>%c</b> <span class=\"place\">", name);
	html_text(out, place->file);
	fprintf(out, ":%" PRIu32 "</span>", place->line);
	if (place->function && *place->function) {
		fputs(" in ", out);
		html_text(out, place->function);
	}
	put_line(place, root, out);
	fputs("</div>", out);
}

static bool is_one_place(const struct finding_pair *p)
{
	return p->place[0].line == p->place[1].line && !strcmp(p->place[0].file, p->place[1].file) &&
	       !strcmp(p->place[0].function, p->place[1].function);
}

static void put_order(const struct finding_pair *p, int which, FILE *out)
{
	static const char *const words[] = {"A before B", "B before A"};

	if (p->first[which])
		fprintf(out, "<b>%s</b> since schedule %" PRIu64, words[which], p->first[which]);
	else
		fprintf(out, "<b class=\"never\">%s: never seen</b>", words[which]);
}

static void put_pair(const struct finding_pair *p, const char *root, FILE *out)
{
	bool both = p->first[0] && p->first[1], one_place = is_one_place(p);

	fprintf(out, "<article class=\"pair %s\"><h3>", both ? "both" : "one");
	html_text(out, p->object ? p->object : p->lock ? "a lock" : "memory");
	fprintf(out, " <span class=\"kind\">%s</span></h3><div class=\"places\">",
		p->lock ? "taken by two threads" : "accessed by two threads");
	put_place(&p->place[0], 'A', root, out);
	if (!one_place)
		put_place(&p->place[1], 'B', root, out);
	fputs("</div><p class=\"order\">", out);
	if (one_place) {
		fprintf(out, "the same place in both threads, since schedule %" PRIu64, p->first[0]);
	} else {
		put_order(p, 0, out);
		fputs(" &middot; ", out);
		put_order(p, 1, out);
	}
	fputs("</p></article>\n", out);
}

static void put_pairs(const struct finding_set *set, const char *root, bool both, FILE *out)
{
	for (size_t i = 0; i < set->pair_count; i++)
		if ((set->pairs[i].first[0] && set->pairs[i].first[1]) == both)
			put_pair(&set->pairs[i], root, out);
}

/* ---- how the number of orders grew ---- */

static int compare(const void *a, const void *b)
{
	RD_BY(*(const uint64_t *)a, *(const uint64_t *)b);
	return 0;
}

static size_t list_firsts(const struct finding_set *set, uint64_t *firsts)
{
	size_t count = 0;

	for (size_t i = 0; i < set->pair_count; i++)
		for (int k = 0; k < (is_one_place(&set->pairs[i]) ? 1 : 2); k++)
			if (set->pairs[i].first[k])
				firsts[count++] = set->pairs[i].first[k];
	qsort(firsts, count, sizeof *firsts, compare);
	return count;
}

static void put_curve(const struct finding_set *set, uint64_t schedules, FILE *out)
{
	uint64_t *firsts = rd_xcalloc(2 * set->pair_count + 1, sizeof *firsts), last;
	size_t count = list_firsts(set, firsts);

	RD_ASSERT(count <= 2 * set->pair_count);
	last = count && firsts[count - 1] > schedules ? firsts[count - 1] : schedules;
	RD_ASSERT(!count || last > 0); /* the divisor below is not 0 */
	fprintf(out,
		"<svg class=\"curve\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"orders seen, by "
		"schedules\"><polyline fill=\"none\" stroke=\"var(--blue)\" stroke-width=\"2\" "
		"points=\"10,%d",
		WIDTH + 20, HEIGHT + 20, HEIGHT + 10);
	for (size_t i = 0; i < count; i++) {
		double x = 10 + WIDTH * (double)firsts[i] / (double)last;

		fprintf(out, " %.1f,%.1f %.1f,%.1f", x, HEIGHT + 10 - HEIGHT * (double)i / (double)count, x,
			HEIGHT + 10 - HEIGHT * (double)(i + 1) / (double)count);
	}
	fprintf(out, " %d,%d\"/></svg>\n<p class=\"order\">%zu orders seen in %" PRIu64 " schedules</p>\n",
		WIDTH + 10, count ? 10 : HEIGHT + 10, count, last);
	free(firsts);
}

void report_coverage_line(const struct finding_set *set, FILE *out)
{
	size_t both = finding_pairs_both(set);

	if (set->pair_count)
		fprintf(out,
			"Of %zu pairs of conflicting places %zu were seen in both orders, %zu in one only.\n",
			set->pair_count, both, set->pair_count - both);
}

/* ---- the page ---- */

int report_coverage(const struct finding_set *set, const struct report_opts *opts, uint64_t schedules,
		    FILE *out)
{
	RD_ASSERT(set != NULL && opts != NULL);
	size_t both = finding_pairs_both(set), one = set->pair_count - both;

	html_head(out, "Raddle: coverage", style);
	fputs("<header><div class=\"top\"><h1>What the schedules covered</h1><span class=\"prog\">", out);
	for (size_t i = 0; i < set->argc; i++) {
		html_text(out, i ? " " : "");
		html_text(out, i ? set->argv[i] : rd_base_name(set->argv[i]));
	}
	fputs("</span><button id=\"theme\" type=\"button\">light / dark</button></div></header><main>\n",
	      out);
	fprintf(out,
		"<p class=\"lead\">At %zu pairs of places, two threads access the same memory and one of "
		"them writes, or both take the same lock. %zu were seen in both orders, <b>%zu in one "
		"only</b>: the program may not allow the other order, or no schedule has reached it.</p>\n",
		set->pair_count, both, one);
	put_curve(set, schedules, out);
	fprintf(out, "<h2>In one order only: %zu</h2>\n", one);
	put_pairs(set, opts->root, false, out);
	fprintf(out, "<h2>In both orders: %zu</h2>\n", both);
	put_pairs(set, opts->root, true, out);
	fprintf(out, "</main><script>%s</script></body></html>\n", html_theme);
	return ferror(out) ? rd_fail_errno("coverage: cannot write the page") : RD_OK;
}
