/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of words for the numbers 0, 1, ... */
#ifndef BASE_WORD_H
#define BASE_WORD_H

#include <stddef.h>
#include <string.h>

/* Returns the number of a word, or -1 if it is not in the table.  The word and entries of the table
 * may be NULL. */
static inline int rd_word_find(const char *const *words, size_t count, const char *word)
{
	for (size_t i = 0; word && i < count; i++)
		if (words[i] && !strcmp(words[i], word))
			return (int)i;
	return -1;
}

/* Returns the word for a number, or NULL if the table has no word for it. */
static inline const char *rd_word(const char *const *words, size_t count, unsigned number)
{
	return number < count ? words[number] : NULL;
}

#endif
