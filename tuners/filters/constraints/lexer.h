/* SPDX-License-Identifier: MIT */
/* lexer.h - the words of a constraint, one after another.
 *
 * Nothing is copied: a token lies in the text.  One thread, nothing is
 * allocated. */
#ifndef FILTERS_CONSTRAINTS_LEXER_H
#define FILTERS_CONSTRAINTS_LEXER_H

#include <stdbool.h>
#include <stddef.h>

enum token_kind {
    TOKEN_END, /* of the constraint: a ';', a line's end, the text's end */
    TOKEN_NUMBER,
    TOKEN_TEXT,   /* "adam" or 'adam': `at` and `len` without the quotes */
    TOKEN_WORD,   /* a name, a keyword, a function */
    TOKEN_QUOTED, /* `a name` in backquotes: without them */
    TOKEN_SIGN,   /* + <= ( and so on */
    TOKEN_BAD     /* nothing that a constraint is made of */
};

struct token {
    enum token_kind kind;
    const char *at;
    size_t len;
    double number;
};

struct lexer {
    const char *begin, *next; /* of the constraint; ends with a NUL */
    struct token token;       /* in hand */
};

/* Takes the first token in hand. */
void lexer_init(struct lexer *l, const char *text);

/* The next one; behind the end there is another end. */
void lexer_step(struct lexer *l);

/* Makes the word in hand so long, which it is not yet. */
void lexer_widen(struct lexer *l, size_t len);

/* How far a path goes that begins with the word in hand, "net[0]/units", with
 * no space in it: at most so long, at least the word itself. */
size_t lexer_path(const struct lexer *l);

/* Whether the token in hand is this sign or word. */
bool lexer_is(const struct lexer *l, const char *text);

/* Of the token in hand, in bytes from 1. */
size_t lexer_column(const struct lexer *l);

#endif
