/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records accesses to strings as ranges of memory.  Instrumented code calls these functions in
 * addition to libc's string functions.  For NULL they record nothing, because the real
 * function handles it.  The functions do not allocate memory, take locks or set errno.  They
 * call strnlen(), which therefore must not be interposed.
 */
#include "raddle/abi.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Returns the size of a string including its NUL, but at most max. */
static uint64_t string_size(const char *p, uint64_t max)
{
	uint64_t n = strnlen(p, max);
	return n < max ? n + 1 : n;
}

EXPORT void __raddle_read_string(struct raddle_self *self, const char *p, uint32_t site, uint64_t max)
{
	if (p != NULL && max != 0)
		__raddle_read_range(self, p, site, string_size(p, max));
}

EXPORT void __raddle_write_string(struct raddle_self *self, const char *p, uint32_t site, uint64_t max)
{
	if (p != NULL && max != 0)
		__raddle_write_range(self, p, site, string_size(p, max));
}

#define PAGE 4096ull /* the size of a page of x86 in bytes; larger pages are multiples of it */
#define WORD 8

/* Returns true if all eight bytes at p are in the same page. */
static bool has_word(const char *p)
{
	return (uintptr_t)p % PAGE <= PAGE - WORD;
}

static uint64_t word_at(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof word);
	return word;
}

/* Returns how many leading bytes of the two words are equal and not NUL.  The lowest byte of a word
 * comes first. */
static uint64_t same_bytes(uint64_t a, uint64_t b)
{
	uint64_t ends = (a - 0x0101010101010101ull) & ~a & 0x8080808080808080ull; /* lowest bit: first NUL */
	uint64_t differs = a ^ b;
	uint64_t at = differs ? (uint64_t)__builtin_ctzll(differs) / 8 : WORD;
	uint64_t end = ends ? (uint64_t)__builtin_ctzll(ends) / 8 : WORD;

	return at < end ? at : end;
}

/* Returns the length of the common prefix of two strings, without the NUL, but at most max. */
static uint64_t common(const char *p, const char *other, uint64_t max)
{
	uint64_t n = 0;

	while (n < max && has_word(p + n) && has_word(other + n)) {
		uint64_t same = same_bytes(word_at(p + n), word_at(other + n)), left = max - n;

		if (same < WORD || left <= WORD)
			return n + (same < left ? same : left);
		n += WORD;
	}
	while (n < max && p[n] == other[n] && p[n] != '\0')
		n++;
	return n;
}

EXPORT void __raddle_read_common(struct raddle_self *self, const char *p, const char *other, uint32_t site,
				 uint64_t max)
{
	if (p != NULL && other != NULL && max != 0)
		__raddle_read_range(self, p, site, common(p, other, max - 1) + 1);
}

EXPORT void __raddle_write_copied(struct raddle_self *self, const char *p, const char *from, uint32_t site,
				  uint64_t max)
{
	if (p != NULL && from != NULL && max != 0)
		__raddle_write_range(self, p, site, string_size(from, max));
}

EXPORT void __raddle_write_appended(struct raddle_self *self, const char *p, const char *from, uint32_t site,
				    uint64_t max)
{
	if (p != NULL && from != NULL)
		__raddle_write_range(self, p + strlen(p), site, strnlen(from, max) + 1);
}

/* --- memory that may not be readable ---------------------------------------------- */

#define PAGES 16 /* the maximum number of pages that one system call tests */

/* Returns how many pages are readable, starting with the page that contains p.  To test a page, the
 * kernel is asked to copy a byte from it. */
static uint64_t readable_pages(uintptr_t p, uint64_t count)
{
	struct iovec there[PAGES], here;
	char bytes[PAGES];
	int kept = errno;

	here = (struct iovec){bytes, sizeof bytes};
	for (uint64_t i = 0; i < count; i++)
		there[i] = (struct iovec){(void *)(i ? (p & -PAGE) + i * PAGE : p), 1};
	long got = syscall(SYS_process_vm_readv, (long)getpid(), &here, 1L, there, (long)count, 0L);
	bool refused = got < 0 && errno == EFAULT;
	errno = kept;
	/* If the call is forbidden, the memory is assumed to be readable. */
	return got >= 0 ? (uint64_t)got : refused ? 0 : count;
}

static bool ends_in(const char *p, uint64_t bytes)
{
	return strnlen(p, bytes) < bytes;
}

EXPORT uint64_t __raddle_readable(const char *p, uint32_t is_string, uint64_t size)
{
	uint64_t n = 0;

	while (n < size) {
		uintptr_t at = (uintptr_t)p + n;
		uint64_t left = PAGE - at % PAGE, pages = PAGES;
		if (is_string)
			pages = 1;
		else if (size - n <= left + (PAGES - 1) * PAGE)
			pages = size - n <= left ? 1 : 1 + (size - n - left + PAGE - 1) / PAGE;
		uint64_t got = readable_pages(at, pages), bytes = got ? left + (got - 1) * PAGE : 0;
		if (bytes > size - n)
			bytes = size - n;
		if (is_string && got && ends_in(p + n, bytes))
			return size;
		n += bytes;
		if (got < pages)
			break;
	}
	return n;
}

/* The maximum number of buffers that the kernel accepts. */
#define VECTOR_MAX 1024

EXPORT void __raddle_vector(struct raddle_self *self, const void *p, uint32_t site, uint64_t count,
			    uint64_t bytes)
{
	const struct msghdr *message = p;
	const struct iovec *v = p;

	if (count == UINT64_MAX) {
		if (__raddle_readable(p, 0, sizeof *message) < sizeof *message)
			return;
		v = message->msg_iov;
		count = message->msg_iovlen;
	}
	if (count > VECTOR_MAX ||
	    __raddle_readable((const char *)v, 0, count * sizeof *v) < count * sizeof *v)
		return;
	for (uint64_t i = 0; i < count && bytes; i++) {
		uint64_t n = v[i].iov_len < bytes ? v[i].iov_len : bytes;
		__raddle_read_range(self, v[i].iov_base, site, __raddle_readable(v[i].iov_base, 0, n));
		bytes -= n;
	}
}
