/* SPDX-License-Identifier: MIT */
/* parser.h - what the files that compile a constraint share.  Inside this
 * folder only. */
#ifndef FILTERS_CONSTRAINTS_PARSER_H
#define FILTERS_CONSTRAINTS_PARSER_H

#include "expression.h"
#include "lexer.h"

/* What an expression is known to be before there is a point. */
enum type {
    TYPE_NONE, /* a mistake */
    TYPE_NUMBER,
    TYPE_TRUTH,
    TYPE_TEXT, /* as written */
    TYPE_ANY   /* a choice of several kinds of elements */
};

struct parser {
    struct lexer lexer;
    struct expression *e;
    const struct tp_host *host;
    const struct tp_space *space;
    size_t stack; /* used at this place */
    int depth;
    bool failed;
    char *why;
};

/* Keeps the first mistake, "COLUMN: ..."; TYPE_NONE. */
enum type parser_fail(struct parser *p, size_t column, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The token in hand is not what was expected there; TYPE_NONE. */
enum type parser_unexpected(struct parser *p, const char *expected);

/* Of the token in hand. */
size_t parser_column(const struct parser *p);

/* Whether it is this sign or word; false behind a mistake.  accept passes it,
 * expect fails when it is not. */
bool parser_is(const struct parser *p, const char *text);
bool parser_accept(struct parser *p, const char *text);
void parser_expect(struct parser *p, const char *sign);

/* Fails when an operand of `who` at this column has another type. */
void parser_need(struct parser *p, enum type type, enum type wanted, size_t at,
                 const char *who);

/* Append code: one step; one without operands of its own; the steps
 * from..to-1 once more. */
void parser_emit(struct parser *p, struct op op);
void parser_emit_code(struct parser *p, enum op_code code);
void parser_repeat(struct parser *p, size_t from, size_t to);

/* Lines of the grammar: value, or. */
enum type parser_value(struct parser *p);
enum type parser_or(struct parser *p);

#endif
