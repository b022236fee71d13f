/* SPDX-License-Identifier: Apache-2.0 */
/* What library functions read and write.  The comment at the end of a
 * line lists the ranges that the call accesses, in order: R or W and a
 * number of bytes.  test/cli/full-library.sh compares them with the
 * trace. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static char text[64] = "12 34 abc", *line, *end, *copy;
static size_t capacity;
static int v[8] = {5, 3, 8, 1, 9, 2, 7, 4}, x, y, pipes[2];
static long wide;
static double d, sine, cosine;
static char word[16], set[16], letter;
static struct stat status;
static void *block;
static unsigned seed = 3;
static int refused;

static void scan(void)
{
	sscanf(text, "%d %d %15s", &x, &y, word);		    /* R10 W4 W4 W4 */
	sscanf("7 x", "%ld%d", &wide, &x);			    /* R4 W8 */
	sscanf("a1b 2.5%", "%c%*d%15[^ ] %lf%%", &letter, set, &d); /* R9 W1 W2 W8 */
	sscanf("5", "%hhd%n", &letter, &x);			    /* R2 W1 */
	sscanf("", "%d", &x);					    /* R1 */
	sscanf(text, "%2$d %1$d", &x, &y);			    /* R10 */
}

static void print(FILE *out)
{
	fprintf(out, "%s %-5s %d%%\n", word, set, x);	      /* R4 R2 */
	fprintf(out, "%*d %.2s %.*s\n", x, y, word, 1, word); /* R2 R1 */
	fprintf(out, "%s%n\n", (char *)NULL, &x);	      /* W4 */
	snprintf(text, sizeof text, "%f %s", d, word);	      /* R4 W13 */
	if (asprintf(&copy, "<%s>", word) < 0)		      /* R4 W8 W6 */
		exit(1);
}

static void compute(void)
{
	qsort(v, 8, sizeof *v, compare); /* R32 W32 */
	d = frexp(d, &x);		 /* W4 */
	d = modf(2.5, &sine);		 /* W8 */
	sincos(d, &sine, &cosine);	 /* W8 W8 */
	wide = strtol(text, &end, 10);	 /* R13 W8 */
	d = strtod("2.5x", NULL);	 /* R5 */
	x = rand_r(&seed);		 /* R4 W4 */
}

static void files(void)
{
	FILE *in;
	if (pipe(pipes) != 0) /* W8 */
		exit(1);
	if (write(pipes[1], "one\ntwo\n", 8) != 8) /* R8 */
		exit(1);
	close(pipes[1]);
	in = fdopen(pipes[0], "r");
	wide = getline(&line, &capacity, in); /* W8 W8 W5 */
	wide = getline(&line, &capacity, in); /* W8 W8 W5 */
	wide = getline(&line, &capacity, in); /* W8 W8 */
	fstat(pipes[0], &status);	      /* W144 */
	fclose(in);
}

/* In the trace, equal bytes have equal hashes at every address. */
static void lie(void)
{
	static char place[64];
	for (int k = 0; k < 8; k++) {
		memset(place, k + 1, sizeof place);
		strcpy(place + k, word);
		strcat(place + k, "and then some more");
		x += (int)strlen(place + k); /* equal */
	}
}

/* A call that the kernel refuses does not crash; a recorded range ends where mapped memory ends. */
static void refuse(void)
{
	const char *nowhere = (const char *)8;
	FILE *out = fopen("/dev/null", "w"); /* R10 */
	long page = sysconf(_SC_PAGESIZE);
	char *edge = mmap(NULL, 3 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (edge == MAP_FAILED || munmap(edge + 2 * page, (size_t)page) != 0)
		exit(1);
	strcpy(edge + 2 * page - 4, "end"); /* R4 W4 */
	refused += write(1, nowhere, 4) == -1;
	refused += open(nowhere, O_RDONLY) == -1;
	refused += stat(nowhere, &status) == -1; /* W144 */
	refused += fstat(0, (struct stat *)nowhere) == -1;
	refused += unlink(edge + 2 * page - 4) == -1;	       /* R4 */
	refused += write(fileno(out), edge + 1, 9999) > 0;     /* R8191 */
	refused += fwrite(edge, 1, 1ul << 30, out) == 1 << 30; /* R8192 */
	if (refused != 7)
		exit(2);
	fclose(out);
}

static void vectors(void)
{
	char a[3] = "ab", b[4] = "cde"; /* W3 W4 */
	struct iovec both[2] = {{a, sizeof a}, {b, sizeof b}};
	struct msghdr message = {.msg_iov = both, .msg_iovlen = 2};
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pipes) != 0)
		exit(1);
	if (writev(pipes[0], both, 2) != 7) /* R3 R4 */
		exit(3);
	if (readv(pipes[1], both, 2) != 7) /* W3 W4 */
		exit(3);
	if (sendmsg(pipes[0], &message, 0) != 7) /* R3 R4 */
		exit(3);
	both[0].iov_len = 2;
	if (recvmsg(pipes[1], &message, 0) != 6) /* W2 W4 */
		exit(3);
	if (writev(pipes[0], (struct iovec *)8, 2) != -1)
		exit(3);
}

int main(void)
{
	vectors();
	scan();
	print(stderr);
	compute();
	files();
	lie();
	refuse();
	free(copy);
	copy = strdup(word);		     /* R4 W4 */
	end = strtok(copy, "b");	     /* R2 W2 */
	x = posix_memalign(&block, 64, 100); /* W8 */
	free(block);
	free(copy);
	free(line);
	return 0;
}
