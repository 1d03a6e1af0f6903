/* SPDX-License-Identifier: MIT */
/* The innermost lines of the grammar: what an operator stands between. */
#include "grow.h"
#include "parser.h"

#include "names.h"
#include "tunepipe/shell.h"

#include <stdlib.h>
#include <string.h>

static enum type
type_of_element(const struct tp_element *v)
{
    if (v->kind == TP_ELEMENT_NUMBER)
        return TYPE_NUMBER;
    return v->kind == TP_ELEMENT_TRUTH ? TYPE_TRUTH : TYPE_ANY;
}

static enum type
type_of(const struct parser *p, size_t dim)
{
    const struct tp_dim *d = TP_DIM(p->space, dim);
    struct tp_element v = {sizeof v, TP_ELEMENT_OTHER, 0, NULL};
    enum type type, one;

    if (d->kind != TP_CHOICE)
        return TYPE_NUMBER;
    tp_element_of(p->host, dim, 0, &v);
    type = type_of_element(&v);
    for (uint64_t i = 1; i < d->n_choices && type != TYPE_ANY; i++) {
        tp_element_of(p->host, dim, i, &v);
        one = type_of_element(&v);
        type = one == type ? type : TYPE_ANY;
    }
    return type;
}

static bool
note_dim(struct expression *e, size_t dim)
{
    for (size_t i = 0; i < e->n_dims; i++)
        if (e->dims[i] == dim)
            return true;
    if (GROW(e->dims, e->n_dims, e->cap_dims) != 0)
        return false;
    e->dims[e->n_dims++] = dim;
    return true;
}

/* The longest path at the word in hand that names a parameter. */
static size_t
find_path(struct parser *p)
{
    struct lexer *l = &p->lexer;
    size_t longest = lexer_path(l), len, dim = p->space->n_dims;

    for (len = longest; len >= l->token.len; len--) {
        dim = constraints_find(p->space, l->token.at, len);
        if (dim < p->space->n_dims)
            break;
    }
    /* What is nested is no number: a longer path is a misspelt one. */
    if (len < longest &&
        names_has_below(p->space, l->token.at,
                        dim < p->space->n_dims ? len : l->token.len)) {
        dim = p->space->n_dims;
        len = longest;
    }
    if (dim < p->space->n_dims || len == longest)
        lexer_widen(l, len);
    return dim;
}

static enum type
parse_name(struct parser *p)
{
    const struct token *t = &p->lexer.token;
    size_t dim = t->kind == TOKEN_QUOTED
                     ? constraints_find(p->space, t->at, t->len)
                     : find_path(p);
    char hint[NAMES_HINT_MAX];

    if (dim == p->space->n_dims) {
        constraints_hint(p->space, t->at, t->len, hint);
        return parser_fail(p, parser_column(p), "no parameter '%.*s'%s",
                           (int)(t->len < 80 ? t->len : 80), t->at, hint);
    }
    if (!note_dim(p->e, dim))
        return parser_fail(p, parser_column(p), "out of memory");
    parser_emit(p, (struct op){OP_DIM, dim, 0});
    lexer_step(&p->lexer);
    return type_of(p, dim);
}

static enum type
parse_text(struct parser *p)
{
    const struct token *t = &p->lexer.token;
    struct expression *e = p->e;

    memcpy(e->texts + e->texts_len, t->at, t->len);
    e->texts[e->texts_len + t->len] = '\0';
    parser_emit(p, (struct op){OP_TEXT, e->texts_len, 0});
    e->texts_len += t->len + 1;
    lexer_step(&p->lexer);
    return TYPE_TEXT;
}

static const struct function {
    const char *name;
    enum op_code code;
    bool many; /* two or more */
} functions[] = {{"abs", OP_ABS, false},   {"floor", OP_FLOOR, false},
                 {"ceil", OP_CEIL, false}, {"round", OP_ROUND, false},
                 {"sqrt", OP_SQRT, false}, {"exp", OP_EXP, false},
                 {"log", OP_LOG, false},   {"min", OP_MIN, true},
                 {"max", OP_MAX, true},    {NULL, OP_NUMBER, false}};

/* NULL: the word in hand is none of them, or no parenthesis is behind it. */
static const struct function *
find_function(const struct parser *p)
{
    const char *behind = p->lexer.next;

    while (*behind == ' ')
        behind++;
    for (const struct function *f = functions; f->name != NULL; f++)
        if (*behind == '(' && parser_is(p, f->name))
            return f;
    return NULL;
}

static enum type
parse_function(struct parser *p, const struct function *f)
{
    size_t at = parser_column(p), n = 1;

    lexer_step(&p->lexer);
    parser_expect(p, "(");
    parser_need(p, parser_or(p), TYPE_NUMBER, at, f->name);
    if (!f->many)
        parser_emit_code(p, f->code);
    for (; f->many && parser_accept(p, ","); n++) {
        parser_need(p, parser_or(p), TYPE_NUMBER, at, f->name);
        parser_emit_code(p, f->code);
    }
    if (f->many && n < 2 && !p->failed)
        return parser_unexpected(p, "',' and another number");
    parser_expect(p, ")");
    return TYPE_NUMBER;
}

static enum type
parse_word(struct parser *p)
{
    const struct function *f = find_function(p);
    bool truth = parser_is(p, "true");

    if (f != NULL)
        return parse_function(p, f);
    if (parser_is(p, "and") || parser_is(p, "or") || parser_is(p, "not") ||
        parser_is(p, "in"))
        return parser_unexpected(p, "a parameter, a number or a text");
    if ((truth || parser_is(p, "false")) &&
        constraints_find(p->space, p->lexer.token.at, p->lexer.token.len) ==
            p->space->n_dims) {
        parser_emit(p, (struct op){OP_TRUTH, 0, truth});
        lexer_step(&p->lexer);
        return TYPE_TRUTH;
    }
    return parse_name(p);
}

enum type
parser_value(struct parser *p)
{
    enum type type;

    if (p->failed)
        return TYPE_NONE;
    switch (p->lexer.token.kind) {
    case TOKEN_NUMBER:
        parser_emit(p, (struct op){OP_NUMBER, 0, p->lexer.token.number});
        lexer_step(&p->lexer);
        return TYPE_NUMBER;
    case TOKEN_TEXT:
        return parse_text(p);
    case TOKEN_WORD:
        return parse_word(p);
    case TOKEN_QUOTED:
        return parse_name(p);
    case TOKEN_SIGN:
        if (!parser_accept(p, "("))
            break;
        type = parser_or(p);
        parser_expect(p, ")");
        return type;
    case TOKEN_END:
    case TOKEN_BAD:
        break;
    }
    return parser_unexpected(p, "a parameter, a number or a text");
}
