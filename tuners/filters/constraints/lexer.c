/* SPDX-License-Identifier: MIT */
#include "lexer.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_LEN_MAX 63

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool
begins_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 128;
}

static size_t
word_len(const char *at)
{
    size_t n = 0;

    while (begins_word(at[n]) || is_digit(at[n]) || at[n] == '.')
        n++;
    return n;
}

static size_t
digits_len(const char *at)
{
    size_t n = 0;

    while (is_digit(at[n]))
        n++;
    return n;
}

/* Digits with a point somewhere, then perhaps an exponent. */
static size_t
number_len(const char *at)
{
    size_t n = digits_len(at), mark;

    if (at[n] == '.')
        n += 1 + digits_len(at + n + 1);
    if (at[n] != 'e' && at[n] != 'E')
        return n;
    mark = n + 1;
    if (at[mark] == '+' || at[mark] == '-')
        mark++;
    return is_digit(at[mark]) ? mark + digits_len(at + mark) : n;
}

static void
take_number(struct token *t)
{
    char copy[NUMBER_LEN_MAX + 1], *end;

    t->len = number_len(t->at);
    if (t->len > NUMBER_LEN_MAX || begins_word(t->at[t->len])) {
        t->kind = TOKEN_BAD;
        return;
    }
    memcpy(copy, t->at, t->len);
    copy[t->len] = '\0';
    t->kind = TOKEN_NUMBER;
    t->number = strtod(copy, &end);
    /* Of what setlocale() does elsewhere in the process only the point is
     * felt here. */
    if (*end == '.') {
        *end = ',';
        t->number = strtod(copy, NULL);
    }
}

/* To the same quote again; without the quotes. */
static const char *
take_quoted(struct token *t, enum token_kind kind)
{
    char quote = *t->at;
    size_t n = 1;

    while (t->at[n] != '\0' && t->at[n] != '\n' && t->at[n] != quote)
        n++;
    if (t->at[n] != quote) {
        t->kind = TOKEN_BAD;
        t->len = n;
        return t->at + n;
    }
    t->kind = kind;
    t->at++;
    t->len = n - 1;
    return t->at + t->len + 1;
}

static size_t
sign_len(const char *at)
{
    static const char *const signs[] = {"<=", ">=", "==", "!=", "**",
                                        "<",  ">",  "+",  "-",  "*",
                                        "/",  "%",  "(",  ")",  ","};

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(at, signs[i], strlen(signs[i])) == 0)
            return strlen(signs[i]);
    return 0;
}

void
lexer_init(struct lexer *l, const char *text)
{
    l->begin = l->next = text;
    lexer_step(l);
}

void
lexer_step(struct lexer *l)
{
    struct token *t = &l->token;
    const char *at = l->next;
    char c;

    while (*at == ' ' || *at == '\t' || *at == '\r')
        at++;
    *t = (struct token){.kind = TOKEN_END, .at = at};
    c = *at;
    l->next = at;
    if (c == '\0' || c == ';' || c == '\n')
        return;
    if (c == '"' || c == '\'' || c == '`') {
        l->next = take_quoted(t, c == '`' ? TOKEN_QUOTED : TOKEN_TEXT);
        return;
    }
    t->kind = TOKEN_SIGN;
    t->len = sign_len(at);
    if (begins_word(c)) {
        t->kind = TOKEN_WORD;
        t->len = word_len(at);
    } else if (is_digit(c) || (c == '.' && is_digit(at[1]))) {
        take_number(t);
    } else if (t->len == 0) {
        t->kind = TOKEN_BAD;
        t->len = 1;
    }
    l->next = at + t->len;
}

void
lexer_widen(struct lexer *l, size_t len)
{
    l->token.len = len;
    l->next = l->token.at + len;
}

size_t
lexer_path(const struct lexer *l)
{
    const char *at = l->token.at;
    size_t n = l->token.len, digits, word;

    for (;;) {
        digits = at[n] == '[' ? digits_len(at + n + 1) : 0;
        if (digits > 0 && at[n + 1 + digits] == ']')
            n += digits + 2;
        word =
            at[n] == '/' && begins_word(at[n + 1]) ? word_len(at + n + 1) : 0;
        if (word == 0)
            return n;
        n += 1 + word;
    }
}

bool
lexer_is(const struct lexer *l, const char *text)
{
    const struct token *t = &l->token;

    return (t->kind == TOKEN_SIGN || t->kind == TOKEN_WORD) &&
           t->len == strlen(text) && memcmp(t->at, text, t->len) == 0;
}

size_t
lexer_column(const struct lexer *l)
{
    return (size_t)(l->token.at - l->begin) + 1;
}
