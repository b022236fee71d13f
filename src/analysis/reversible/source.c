// SPDX-License-Identifier: Apache-2.0
/*
 * Finds sources of values that the program itself does not determine.  It reads the records, and
 * makes a list of places.
 *
 * It uses a deny list, as the TraceSanitizer paper proposes.  The list contains function names,
 * operations with a time limit, and hashes of paths.  It also contains addresses in output or in
 * calculations, loads of fresh heap memory, and scheduling choices that do not show in the order of
 * events.  Other sources are not found.
 */
#include "reversible/source.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/name.h"
#include "reversible/file-int.h"
#include "raddle/full.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint8_t kind;
} functions[] = {
#define LIBC_VARIES(name, of) {name, REV_OF_##of},
#include "raddle/libc.inc"
};

/* Hidden states of libraries, which do not show in any argument.  They are numbered from 1. */
enum state { STATE_NONE, STATE_RAND, STATE_DRAND48, STATE_STRTOK, STATE_ENVIRONMENT, STATE_LOCALE, STATES };

static const char *const states[STATES] = {
	RD_UNKNOWN,	   "the state of rand()", "the state of drand48()", "the state of strtok()",
	"the environment", "the locale"};

static const struct {
	const char *function;
	enum state state;
} hidden[] = {
#define LIBC_STATE(name, state) {name, STATE_##state},
#include "raddle/libc.inc"
};

static const char *const devices[] = {"/dev/urandom", "/dev/random"};
static const char *const writers[] = {
#define LIBC_EMITS(name) name,
#include "raddle/libc.inc"
};

/* The kinds of functions with a format string. */
enum format { PRINTS, SCANS };

static const struct {
	const char *name;
	enum format format;
	unsigned argument;
} formats[] = {
#define LIBC_FORMAT(name, way, argument) {name, way, argument},
#include "raddle/libc.inc"
};

/* The largest number of arguments of a printing call that are checked.  Set by hand. */
#define PRINTED_MAX 8

/* The state of a thread while its records are examined. */
struct source_lane {
	const char *call; /* the function that was called last */
	uint32_t printer; /* site of a printing call that has not returned; 0 outside such calls */
	unsigned printed_count;
	/* The arguments of the printing call that look like addresses and have not been
	 * dereferenced. */
	uint64_t printed[PRINTED_MAX];
	/* The site of a call that waits for input and has not returned, or 0 if there is none. */
	uint32_t input;
	uint64_t asked;	  /* the largest number of bytes that the input call reads; 0 if unknown */
	uint32_t channel; /* 1 + the object of the channel from which the thread received */
	uint32_t use;	  /* 1 + the barrier use that the thread has just left */
	bool serial;
	uint64_t stack, stack_size;
};

/* The branch that a thread took after a barrier. */
struct branch_taken {
	uint64_t target;
	uint32_t site;
	bool serial;
};

/* A piece of code that converts a variable's address to a number and calculates with it. */
struct numbering {
	const struct trace_op *first; /* the first record of the piece that does so */
	uint32_t site;
};

struct rev_sources {
	const struct rev_run *run;
	const struct trace_sites *sites;
	struct rev_source *list;
	size_t count, capacity;
	struct rd_umap known; /* maps (site, kind) to 1 + the index in the list */
	/* Maps the site of a call to 1 + its kind, or to 0 if the call is not a source. */
	struct rd_umap kinds;
	struct rd_umap pieces; /* maps the number of a piece to 1 + its index in `numberings` */
	struct numbering *numberings;
	size_t numbering_count, numbering_capacity;
	bool parts; /* some code calculates with parts of words */
	/* The numbers of the words that contain an address; used if `parts` is set. */
	struct rd_umap stored;
	struct rev_files *files;
	uint32_t *least; /* the size of each object's smallest message (find_least()) */
	struct source_lane *lanes;
	/* For each use of a barrier, the branch that the first thread took after it. */
	struct branch_taken *ways;
	uint32_t *done;
	uint32_t *waiting; /* 1 + the object of the condition that each thread waits for */
};

const char *rev_source_kind_name(enum rev_source_kind kind)
{
	RD_ASSERT(kind < REV_SOURCE_KINDS);
	static const char *const names[REV_SOURCE_KINDS] = {"time",   "timeout", "random", "identity",
							    "input",  "address", "number", "unwritten",
							    "output", "choice",	 "signal"};

	return names[kind];
}

const char *rev_source_kind_text(enum rev_source_kind kind)
{
	RD_ASSERT(kind < REV_SOURCE_KINDS);
	static const char *const texts[REV_SOURCE_KINDS] = {
		[REV_OF_TIME] = "the time",
		[REV_OF_TIMEOUT] = "a wait with a time limit",
		[REV_OF_RANDOM] = "random numbers",
		[REV_OF_IDENTITY] = "numbers chosen by the system",
		[REV_OF_INPUT] = "input whose arrival the program does not control",
		[REV_OF_ADDRESS] = "addresses are printed",
		[REV_OF_NUMBER] = "an address is used in a calculation",
		[REV_OF_UNWRITTEN] = "memory is read before it is written",
		[REV_OF_OUTPUT] = "several threads use a file in no fixed order",
		[REV_OF_CHOICE] = "the schedule chooses one of several threads",
		[REV_OF_SIGNAL] = "a signal arrives at any time",
	};

	return texts[kind];
}

/* Returns the site at which a piece of code converts a variable's address to a number and
 * calculates with it, or 0 if there is none. */
static uint32_t numbering_site(const struct trace_piece *piece)
{
	for (uint32_t i = 0; i < piece->op_count; i++)
		if (piece->ops[i].numbers)
			return piece->ops[i].site;
	return 0;
}

/* Returns true if the code calculates with part of a word. */
static bool has_small_calculation(const struct trace_piece *piece)
{
	for (uint32_t i = 0; i < piece->record_count; i++) {
		const struct trace_op *op = &piece->plain[i];

		if (op->kind == TRACE_FULL_LOAD && op->values->calculated && op->values->size < 8)
			return true;
	}
	return false;
}

static void find_numberings(struct rev_sources *s, const struct trace_layout *layout)
{
	for (size_t i = 0; layout && i < trace_layout_count(layout); i++) {
		const struct trace_piece *piece = trace_layout_at(layout, i);
		uint32_t site = piece->record_count ? numbering_site(piece) : 0;

		s->parts |= has_small_calculation(piece);
		if (!site)
			continue;
		RD_GROW(s->numberings, s->numbering_capacity, s->numbering_count + 1);
		s->numberings[s->numbering_count++] = (struct numbering){piece->plain, site};
		*rd_umap_put(&s->pieces, piece->number, NULL) = s->numbering_count;
	}
}

/* Returns an array that is indexed by object.  For a channel, it contains the size of the smallest
 * message that went through it, or 0 if the size of some message is unknown. */
static uint32_t *find_least(const struct rev_run *run, const struct trace_sites *sites)
{
	uint32_t *least = rd_xcalloc(run->object_count + 1, sizeof *least);

	memset(least, 0xff, (run->object_count + 1) * sizeof *least);
	for (size_t i = 0; i < run->op_count; i++) {
		const struct rev_op *op = &run->ops[i];
		const struct trace_site *site;

		if (op->event != RADDLE_CHANNEL_SEND || op->object == REV_NONE ||
		    op->bytes >= least[op->object])
			continue;
		/* Closing an end of a channel is recorded as a message, too. */
		site = op->bytes ? NULL : trace_sites_find(sites, op->site);
		if (!site || strcmp(site->what, "close") != 0)
			least[op->object] = op->bytes;
	}
	return least;
}

struct rev_sources *rev_sources_new(const struct rev_run *run, const struct trace_sites *sites,
				    const struct trace_layout *layout)
{
	struct rev_sources *s = rd_xcalloc(1, sizeof *s);

	s->run = run;
	s->sites = sites;
	s->files = rev_files_new(run);
	s->least = find_least(run, sites);
	s->lanes = rd_xcalloc(run->thread_count + 1, sizeof *s->lanes);
	s->ways = rd_xcalloc(run->use_count + 1, sizeof *s->ways);
	s->done = rd_xcalloc(run->thread_count + 1, sizeof *s->done);
	s->waiting = rd_xcalloc(run->thread_count + 1, sizeof *s->waiting);
	for (size_t i = 0; i < run->thread_count; i++)
		s->lanes[i].call = "";
	find_numberings(s, layout);
	return s;
}

void rev_sources_free(struct rev_sources *s)
{
	if (!s)
		return;
	rev_files_free(s->files);
	RD_FREE(s->list, s->lanes, s->ways, s->done, s->waiting, s->least);
	RD_UMAP_RELEASE(&s->known, &s->kinds, &s->pieces, &s->stored);
	free(s->numberings);
	free(s);
}

static void add(struct rev_sources *s, enum rev_source_kind kind, uint32_t site, uint32_t thread,
		const char *what)
{
	uint64_t *at = rd_umap_put(&s->known, (uint64_t)site << 4 | kind, NULL);

	if (!*at) {
		RD_GROW(s->list, s->capacity, s->count + 1);
		s->list[s->count++] = (struct rev_source){
			.kind = (uint8_t)kind, .site = site, .thread = thread, .what = what};
		*at = s->count;
	}
	s->list[*at - 1].count++;
}

void rev_sources_unwritten(struct rev_sources *s, uint32_t thread, uint32_t site)
{
	const struct trace_site *at = trace_sites_find(s->sites, site);

	add(s, REV_OF_UNWRITTEN, site, thread, at && *at->what ? at->what : "load");
}

const char *rev_sources_call(const struct rev_sources *s, uint32_t thread)
{
	return s->lanes[thread].call;
}

/* ---- calls ---- */

static uint64_t kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].kind + 1u;
	return 0;
}

unsigned rev_hidden_state(const char *function)
{
	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
		if (!strcmp(hidden[i].function, function))
			return hidden[i].state;
	return STATE_NONE;
}

const char *rev_hidden_name(unsigned state)
{
	return states[state < STATES ? state : STATE_NONE];
}

static bool may_be_address(const struct trace_record *r, size_t i)
{
	uint64_t value = trace_record_value(r, i);
	if (r->values[i].size != 8 || r->values[i].type == TRACE_VALUE_FLOAT)
		return false;
	return r->values[i].type == TRACE_VALUE_POINTER ? raddle_may_be_pointer(value)
							: raddle_looks_like_pointer(value);
}

/* Collects arguments of a printing call that look like addresses.  The call later reads the memory
 * at the address of a %s argument, but not of a %p argument. */
static void look_at_printer(struct source_lane *lane, const char *name, const struct trace_record *r)
{
	lane->printed_count = 0;
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		if (formats[i].format != PRINTS || strcmp(formats[i].name, name) != 0)
			continue;
		lane->printer = r->site;
		for (size_t k = formats[i].argument + 1; k < r->value_count; k++)
			if (may_be_address(r, k) && lane->printed_count < PRINTED_MAX)
				lane->printed[lane->printed_count++] = trace_record_value(r, k);
	}
}

static void printed_through(struct source_lane *lane, uint64_t address)
{
	for (unsigned i = 0; i < lane->printed_count; i++)
		if (lane->printed[i] == address) {
			lane->printed[i] = lane->printed[--lane->printed_count];
			return;
		}
}

/* Functions that read the available data, but at most as many bytes as their third argument
 * states. */
static const char *const takers[] = {"read", "__read_chk", "recv", "recvfrom"};

static bool takes(const char *name)
{
	return rd_is_one_of(name, takers, sizeof takers / sizeof *takers);
}

/* Notes how many bytes a call reads at most.  A poll() of one descriptor without a time limit
 * counts as reading one byte. */
static void look_at_taker(struct rev_sources *s, uint32_t thread, const struct trace_record *r, bool input)
{
	struct source_lane *lane = &s->lanes[thread];
	bool one = !strcmp(lane->call, "poll") && r->value_count > 2 && trace_record_value(r, 1) == 1 &&
		   (int32_t)trace_record_value(r, 2) < 0;

	lane->input = input ? r->site : 0;
	lane->channel = 0;
	lane->asked = takes(lane->call) && r->value_count > 2 ? trace_record_value(r, 2) : one;
}

/* Handles the return of a call that reads input.  The amount of data from a channel inside the
 * process is certain if the call asked for at most one message, or if it found the end of the data.
 * Data from elsewhere arrives at any time. */
static void look_at_input(struct rev_sources *s, uint32_t thread, const struct trace_record *r)
{
	struct source_lane *lane = &s->lanes[thread];
	bool end = takes(lane->call) && r->value_count && (int64_t)trace_record_value(r, 0) <= 0;
	bool certain = lane->channel && (end || (lane->asked && lane->asked <= s->least[lane->channel - 1]));

	if (!certain && (lane->input || (lane->channel && takes(lane->call))))
		add(s, REV_OF_INPUT, r->site, thread, lane->call);
	lane->input = lane->channel = 0;
}

static void look_at_result(struct rev_sources *s, uint32_t thread, const struct trace_record *r)
{
	struct source_lane *lane = &s->lanes[thread];

	if (lane->printed_count)
		add(s, REV_OF_ADDRESS, lane->printer, thread, lane->call);
	lane->printed_count = 0;
	if (lane->input || lane->channel)
		look_at_input(s, thread, r);
}

/* Returns true if the target of pthread_kill() is a thread other than its caller.  Except for the
 * initial thread, the pthread_t of a thread points into its stack. */
static bool is_other(const struct rev_sources *s, uint32_t thread, uint64_t handle)
{
	bool initial = s->run->threads[thread].number == 0;

	for (uint32_t i = 0; i < s->run->thread_count; i++)
		if (s->run->threads[i].number != 0 && handle - s->lanes[i].stack < s->lanes[i].stack_size)
			return i != thread;
	return !initial;
}

/* Notes signals from other threads and from timers, and signals that any thread may receive. */
static void look_at_signal(struct rev_sources *s, uint32_t thread, const struct trace_record *r,
			   const char *name)
{
	static const char *const timers[] = {"setitimer", "alarm", "ualarm", "timer_settime"};
	static const char *const all[] = {"kill", "sigqueue", "killpg"};
	static const char *const one[] = {"pthread_kill", "pthread_sigqueue"};
	bool sends = rd_is_one_of(name, timers, sizeof timers / sizeof *timers);

	if (rd_is_one_of(name, all, sizeof all / sizeof *all))
		sends = s->run->thread_count > 1;
	else if (rd_is_one_of(name, one, sizeof one / sizeof *one) && r->value_count)
		sends = is_other(s, thread, trace_record_value(r, 0));
	/* Signal 0 only checks whether the thread exists, and a time of 0 stops the alarm. */
	if (sends && strstr(name, "kill") && r->value_count > 1 && !(uint32_t)trace_record_value(r, 1))
		sends = false;
	if (sends && strstr(name, "alarm") && r->value_count && !(uint32_t)trace_record_value(r, 0))
		sends = false;
	if (sends)
		add(s, REV_OF_SIGNAL, r->site, thread, name);
}

static void look_at_call(struct rev_sources *s, uint32_t thread, const struct trace_record *r)
{
	const struct trace_site *site = trace_sites_find(s->sites, r->site);
	const char *name = site ? site->what : "";
	bool is_new;
	uint64_t *kind = rd_umap_put(&s->kinds, r->site, &is_new);

	if (is_new)
		*kind = kind_of(name);
	s->lanes[thread].call = name;
	look_at_printer(&s->lanes[thread], name, r);
	look_at_signal(s, thread, r, name);
	look_at_taker(s, thread, r, *kind == REV_OF_INPUT + 1 && r->kind == TRACE_FULL_CALL);
	if (*kind && !s->lanes[thread].input)
		add(s, (enum rev_source_kind)(*kind - 1), r->site, thread, name);
	/* A read from standard input. */
	if (!strcmp(name, "read") && r->value_count && trace_record_value(r, 0) == 0)
		add(s, REV_OF_INPUT, r->site, thread, name);
}

/* ---- ranges ---- */

/* Returns the hash of a range that contains the text (raddle/full.h). */
static uint64_t hash_of(const char *text, uint64_t length)
{
	uint64_t hash = length;

	for (uint64_t i = 0; i < length; i += 8) {
		uint64_t word = 0;

		memcpy(&word, text + i, length - i < 8 ? length - i : 8);
		hash = raddle_hash_word(hash, word);
	}
	return hash;
}

/* Returns true if one of the listed words looks like an address.  It may be a number
 * nevertheless. */
static bool has_address(const struct trace_record *r)
{
	for (uint32_t i = 0; i < r->listed; i++)
		if (raddle_looks_like_pointer(r->pointers[i].value))
			return true;
	return false;
}

static void look_at_range(struct rev_sources *s, uint32_t thread, const struct trace_record *r)
{
	const char *call = s->lanes[thread].call;

	printed_through(&s->lanes[thread], r->address);
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
		size_t length = strlen(devices[i]) + 1;

		if (r->size == length && r->value == hash_of(devices[i], length))
			add(s, REV_OF_RANDOM, r->site, thread, devices[i]);
	}
	if (has_address(r) && rd_is_one_of(call, writers, sizeof writers / sizeof *writers))
		add(s, REV_OF_ADDRESS, r->site, thread, call);
}

/* ---- choices ---- */

/* Handles a signal that finds several waiting threads. */
static void look_at_condition(struct rev_sources *s, const struct rev_op *op, uint32_t site)
{
	size_t waiting = 0;

	if (op->kind == EXEC_WAIT)
		s->waiting[op->thread] = op->object + 1;
	if (op->kind == EXEC_WAKE)
		s->waiting[op->thread] = 0;
	if (op->kind != EXEC_SIGNAL)
		return;
	for (size_t i = 0; i < s->run->thread_count; i++)
		waiting += s->waiting[i] == op->object + 1;
	if (waiting > 1)
		add(s, REV_OF_CHOICE, site, op->thread, "pthread_cond_signal");
}

static void look_at_event(struct rev_sources *s, uint32_t thread, const struct trace_record *r)
{
	const struct rev_op *op;

	if (r->event->kind == RADDLE_THREAD_START) {
		s->lanes[thread].stack = r->event->values[4];
		s->lanes[thread].stack_size = r->event->values[5];
	}
	if (!rev_is_operation(r->event->kind) || s->done[thread] >= s->run->threads[thread].count)
		return;
	op = rev_run_op(s->run, thread, ++s->done[thread]);
	if (r->event->kind == RADDLE_CHANNEL_RECEIVE)
		s->lanes[thread].channel = op->object + 1;
	if (raddle_manner(r->event->kind) == RADDLE_MANNER_TIMED ||
	    (r->event->kind == RADDLE_COND_WAIT && r->event->values[4])) {
		add(s, REV_OF_TIMEOUT, r->site, thread, trace_kind(r->event->kind)->name);
	} else if (r->event->kind == RADDLE_BARRIER_EXIT) {
		if (op->kind == EXEC_EXIT)
			s->lanes[thread].use = op->link + 1;
		s->lanes[thread].serial = r->event->values[3];
	}
	look_at_condition(s, op, r->site);
}

/* Handles the first branch after a barrier.  If the serial thread takes another direction there
 * than the other threads, it matters which thread is the serial one. */
static void look_at_branch(struct rev_sources *s, uint32_t thread, const struct trace_record *r)
{
	struct source_lane *lane = &s->lanes[thread];
	struct branch_taken *way;

	if (!lane->use)
		return;
	way = &s->ways[lane->use - 1];
	lane->use = 0;
	if (!way->site)
		*way = (struct branch_taken){r->value, r->site, lane->serial};
	else if (way->site == r->site && way->serial != lane->serial && way->target != r->value)
		add(s, REV_OF_CHOICE, r->site, thread, "pthread_barrier_wait");
}

static void look_at_piece(struct rev_sources *s, uint32_t thread, const struct trace_record *r)
{
	const uint64_t *at = r->kind < TRACE_FULL_RANGE ? rd_umap_get(&s->pieces, r->piece) : NULL;
	const struct numbering *n = at ? &s->numberings[*at - 1] : NULL;

	if (n && n->first == r->op)
		add(s, REV_OF_NUMBER, n->site, thread, "ptrtoint");
}

/* ---- words that contain addresses, for loads of parts of them ---- */

/* The largest number of bytes of a range that are examined.  Set by hand, to limit the time. */
#define RANGE_MAX (1u << 20)

static bool holds_address(const struct rev_sources *s, uint64_t address)
{
	const uint64_t *at = rd_umap_get(&s->stored, address / 8);

	return at && *at;
}

static void set_address(struct rev_sources *s, uint64_t address, bool holds)
{
	uint64_t *at =
		holds ? rd_umap_put(&s->stored, address / 8, NULL) : rd_umap_get(&s->stored, address / 8);

	if (at)
		*at = holds;
}

/* Notes that the contents of a range were copied from the address `from`.  If `from` is 0, they
 * came from elsewhere and are not addresses. */
static void set_range(struct rev_sources *s, uint64_t address, uint64_t size, uint64_t from)
{
	uint64_t length = size < RANGE_MAX ? size : RANGE_MAX;

	for (uint64_t i = 0; i < length; i += 8)
		set_address(s, address + i, from && holds_address(s, from + i));
}

static void note_store(struct rev_sources *s, const struct trace_record *r)
{
	bool address = r->size == 8 && r->address % 8 == 0 && may_be_address(r, 0) &&
		       raddle_looks_like_pointer(r->value);

	/* If bytes are moved one by one, the word becomes known when it is stored as a whole. */
	if (address || r->size >= 8 || !r->op || !r->op->moved)
		set_address(s, r->address, address);
}

static void note_memory(struct rev_sources *s, const struct trace_record *r)
{
	switch (r->kind) {
	case TRACE_FULL_STORE:
		if (r->value_count)
			note_store(s, r);
		break;
	case TRACE_FULL_COPY: set_range(s, r->address, r->size, r->value); break;
	case TRACE_FULL_ALLOCA:
	case TRACE_FULL_FILL: set_range(s, r->address, r->size, 0); break;
	case TRACE_FULL_EVENT:
		if (r->event->kind == RADDLE_ALLOC)
			set_range(s, r->address, r->event->values[2], 0);
		break;
	default: break;
	}
}

static bool is_part_of_address(const struct rev_sources *s, const struct trace_record *r)
{
	return r->size < 8 && holds_address(s, r->address);
}

/* Notes the addresses, and parts of addresses, with which the code calculates. */
static void look_at_values(struct rev_sources *s, uint32_t thread, const struct trace_record *r)
{
	const struct trace_site *site;

	if (r->kind != TRACE_FULL_LOAD && r->kind != TRACE_FULL_RESULT && r->kind != TRACE_FULL_ENTRY)
		return;
	for (size_t i = 0; i < r->value_count; i++) {
		if (!r->values[i].calculated)
			continue;
		if (!(may_be_address(r, i) && raddle_looks_like_pointer(trace_record_value(r, i))) &&
		    !(r->kind == TRACE_FULL_LOAD && is_part_of_address(s, r)))
			continue;
		site = trace_sites_find(s->sites, r->site);
		add(s, REV_OF_NUMBER, r->site, thread, site && *site->what ? site->what : "load");
	}
}

void rev_sources_feed(struct rev_sources *s, uint32_t thread, const struct trace_record *r)
{
	RD_ASSERT(thread < s->run->thread_count);
	if (s->numbering_count)
		look_at_piece(s, thread, r);
	if (s->parts)
		note_memory(s, r);
	if (r->value_count)
		look_at_values(s, thread, r);
	switch (r->kind) {
	case TRACE_FULL_CALL:
	case TRACE_FULL_TAIL:
		s->lanes[thread].use = 0;
		look_at_call(s, thread, r);
		break;
	case TRACE_FULL_RANGE: look_at_range(s, thread, r); break;
	case TRACE_FULL_RESULT: look_at_result(s, thread, r); break;
	case TRACE_FULL_BRANCH: look_at_branch(s, thread, r); break;
	case TRACE_FULL_EVENT: look_at_event(s, thread, r); break;
	default: break;
	}
	if (rev_files_feed(s->files, thread, s->done[thread], s->lanes[thread].call, r))
		add(s, REV_OF_OUTPUT, r->site, thread, s->lanes[thread].call);
}

struct rev_source *rev_sources_take(struct rev_sources *s, size_t *count)
{
	struct rev_source *list = s->list;

	*count = s->count;
	s->list = NULL;
	s->count = s->capacity = 0;
	return list;
}
