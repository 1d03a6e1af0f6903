/* SPDX-License-Identifier: MIT */
#include "parser.h"

#include "grow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum type
parser_fail(struct parser *p, size_t column, const char *fmt, ...)
{
    va_list ap;
    int n;

    if (p->failed)
        return TYPE_NONE;
    p->failed = true;
    n = snprintf(p->why, EXPRESSION_WHY_MAX, "column %zu: ", column);
    va_start(ap, fmt);
    vsnprintf(p->why + n, EXPRESSION_WHY_MAX - (size_t)n, fmt, ap);
    va_end(ap);
    return TYPE_NONE;
}

size_t
parser_column(const struct parser *p)
{
    return lexer_column(&p->lexer);
}

bool
parser_is(const struct parser *p, const char *text)
{
    return !p->failed && lexer_is(&p->lexer, text);
}

bool
parser_accept(struct parser *p, const char *text)
{
    if (!parser_is(p, text))
        return false;
    lexer_step(&p->lexer);
    return true;
}

enum type
parser_unexpected(struct parser *p, const char *expected)
{
    static const char *const other[] = {"===", "&the word and", "|the word or",
                                        "!the word not"};
    const struct token *t = &p->lexer.token;

    if (t->kind == TOKEN_END)
        return parser_fail(p, parser_column(p), "it ends here, expected %s",
                           expected);
    if (t->kind == TOKEN_BAD && strchr("\"'`", *t->at) != NULL)
        return parser_fail(p, parser_column(p), "expected another %c behind it",
                           *t->at);
    for (size_t i = 0; t->kind == TOKEN_BAD && i < 4; i++)
        if (*t->at == *other[i])
            expected = other[i] + 1;
    return parser_fail(p, parser_column(p), "'%.*s', expected %s",
                       (int)(t->len < 60 ? t->len : 60), t->at, expected);
}

void
parser_expect(struct parser *p, const char *sign)
{
    char what[16];

    snprintf(what, sizeof what, "'%s'", sign);
    if (!parser_accept(p, sign))
        parser_unexpected(p, what);
}

void
parser_need(struct parser *p, enum type type, enum type wanted, size_t at,
            const char *who)
{
    if (type != wanted && type != TYPE_NONE)
        parser_fail(
            p, at,
            wanted == TYPE_NUMBER
                ? "%s wants numbers"
                : "%s wants comparisons, such as x < y, or truth values",
            who);
}

/* ---- code ---- */

void
parser_emit(struct parser *p, struct op op)
{
    struct expression *e = p->e;

    if (p->failed)
        return;
    if (e->n_ops == EXPRESSION_OPS_MAX) {
        parser_fail(p, parser_column(p), "too long: more than %d steps",
                    EXPRESSION_OPS_MAX);
        return;
    }
    if (GROW(e->ops, e->n_ops, e->cap_ops) != 0) {
        parser_fail(p, parser_column(p), "out of memory");
        return;
    }
    if (op.code >= OP_ADD)
        p->stack--;
    else if (op.code < OP_NEGATE)
        p->stack++;
    if (p->stack > EXPRESSION_STACK_MAX)
        parser_fail(p, parser_column(p),
                    "too deep: more than %d values at once",
                    EXPRESSION_STACK_MAX);
    e->ops[e->n_ops++] = op;
}

void
parser_emit_code(struct parser *p, enum op_code code)
{
    parser_emit(p, (struct op){code, 0, 0});
}

/* The code from..to-1 once more. */
void
parser_repeat(struct parser *p, size_t from, size_t to)
{
    for (size_t i = from; i < to && !p->failed; i++)
        parser_emit(p, p->e->ops[i]);
}
