// SPDX-License-Identifier: Apache-2.0
/* No threads, after Cppcheck: the null link of a bracket that is never closed is dereferenced. */
#include <stdio.h>
#include <sys/random.h>

struct token {
	char what;
	struct token *link;
};

static struct token tokens[4];

static void link_brackets(const char *text)
{
	struct token *open = NULL;

	for (int i = 0; text[i]; i++) {
		tokens[i].what = text[i];
		if (text[i] == '<')
			open = &tokens[i];
		if (text[i] == '>' && open)
			open->link = &tokens[i];
	}
}

int main(void)
{
	static const char *const inputs[] = {"<a>", "<b>", "<ab", "<c>"};
	unsigned char n = 0;

	if (getrandom(&n, 1, 0) != 1)
		return 0;
	link_brackets(inputs[n % 4]);
	printf("%c\n", tokens[0].link->what);
	return 0;
}
