/* SPDX-License-Identifier: MIT */
/* DESIGN.  One function a line of the grammar, each of which appends what it
 * has read to the code and says what that leaves on the stack.  Every loop
 * and every recursion ends with the first mistake: behind it no token is
 * accepted. */
#include "parser.h"

#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
go_deeper(struct parser *p)
{
    if (++p->depth <= EXPRESSION_DEPTH_MAX)
        return !p->failed;
    parser_fail(p, parser_column(p), "nested too deep: more than %d",
                EXPRESSION_DEPTH_MAX);
    return false;
}

static enum type
parse_unary(struct parser *p)
{
    size_t at = parser_column(p);
    enum type type = TYPE_NONE;

    if (go_deeper(p) && parser_accept(p, "-")) {
        parser_need(p, parse_unary(p), TYPE_NUMBER, at, "'-'");
        parser_emit_code(p, OP_NEGATE);
        type = TYPE_NUMBER;
    } else {
        type = parser_value(p);
        at = parser_column(p);
        if (parser_accept(p, "**")) {
            parser_need(p, type, TYPE_NUMBER, at, "'**'");
            parser_need(p, parse_unary(p), TYPE_NUMBER, at, "'**'");
            parser_emit_code(p, OP_POWER);
        }
    }
    p->depth--;
    return type;
}

struct sign {
    const char *text;
    enum op_code code;
};

/* NULL: the token in hand is none of them; else it is passed. */
static const struct sign *
accept_sign(struct parser *p, const struct sign *signs)
{
    for (; signs->text != NULL; signs++)
        if (parser_accept(p, signs->text))
            return signs;
    return NULL;
}

/* operand (sign operand)*, all of them numbers. */
static enum type
parse_row(struct parser *p, const struct sign *signs,
          enum type (*operand)(struct parser *))
{
    enum type type = operand(p);
    size_t at = parser_column(p);
    const struct sign *s;
    char who[8];

    while ((s = accept_sign(p, signs)) != NULL) {
        snprintf(who, sizeof who, "'%s'", s->text);
        parser_need(p, type, TYPE_NUMBER, at, who);
        parser_need(p, operand(p), TYPE_NUMBER, at, who);
        parser_emit_code(p, s->code);
        at = parser_column(p);
    }
    return type;
}

static enum type
parse_term(struct parser *p)
{
    static const struct sign signs[] = {{"*", OP_MULTIPLY},
                                        {"/", OP_DIVIDE},
                                        {"%", OP_REMAINDER},
                                        {NULL, OP_NUMBER}};

    return parse_row(p, signs, parse_unary);
}

static enum type
parse_sum(struct parser *p)
{
    static const struct sign signs[] = {
        {"+", OP_ADD}, {"-", OP_SUBTRACT}, {NULL, OP_NUMBER}};

    return parse_row(p, signs, parse_term);
}

/* ---- comparisons ---- */

/* An operand: its type, and where its code is. */
struct side {
    enum type type;
    size_t from, to;
};

static struct side
parse_side(struct parser *p)
{
    struct side s = {.from = p->e->n_ops};

    s.type = parse_sum(p);
    s.to = p->e->n_ops;
    return s;
}

/* A text that is no element of the choice it is compared with is a slip of
 * the pen. */
static void
check_text(struct parser *p, const struct side *a, const struct side *b,
           size_t at)
{
    const struct op *dim = &p->e->ops[a->from], *text = &p->e->ops[b->from];
    const char *word;
    char hint[NAMES_HINT_MAX];

    if (p->failed || a->to != a->from + 1 || b->to != b->from + 1 ||
        dim->code != OP_DIM || text->code != OP_TEXT)
        return;
    word = p->e->texts + text->at;
    if (names_has_element(p->host, p->space, dim->at, word))
        return;
    names_hint_element(p->host, p->space, dim->at, word, hint);
    parser_fail(p, at, "'%.80s' has no element \"%.80s\"%s",
                TP_DIM(p->space, dim->at)->name, word, hint);
}

static const char *
type_name(enum type type)
{
    static const char *const names[] = {"nothing", "a number", "a truth value",
                                        "a text", "a choice"};

    return names[type];
}

static void
check_sides(struct parser *p, const struct side *a, const struct side *b,
            enum op_code code, size_t at)
{
    bool equality = code == OP_EQUAL || code == OP_UNEQUAL;

    if (p->failed)
        return;
    if (!equality && (a->type != TYPE_NUMBER || b->type != TYPE_NUMBER))
        parser_fail(p, at, "compares %s with %s, expected numbers",
                    type_name(a->type), type_name(b->type));
    else if (a->type != b->type && a->type != TYPE_ANY && b->type != TYPE_ANY)
        parser_fail(p, at, "compares %s with %s, which are never equal",
                    type_name(a->type), type_name(b->type));
    check_text(p, a, b, at);
    check_text(p, b, a, at);
}

static const struct sign relations[] = {
    {"<", OP_LESS},           {"<=", OP_LESS_EQUAL}, {">", OP_GREATER},
    {">=", OP_GREATER_EQUAL}, {"==", OP_EQUAL},      {"!=", OP_UNEQUAL},
    {NULL, OP_NUMBER}};

/* a < b < c: a < b and b < c. */
static enum type
parse_chain(struct parser *p, struct side a)
{
    const struct sign *s;
    size_t at = parser_column(p);
    struct side b;

    for (size_t n = 0; (s = accept_sign(p, relations)) != NULL; n++) {
        if (n > 0) {
            struct side again = {a.type, p->e->n_ops, 0};

            parser_repeat(p, a.from, a.to);
            again.to = p->e->n_ops;
            a = again;
        }
        b = parse_side(p);
        check_sides(p, &a, &b, s->code, at);
        parser_emit_code(p, s->code);
        if (n > 0)
            parser_emit_code(p, OP_AND);
        a = b;
        at = parser_column(p);
    }
    return TYPE_TRUTH;
}

/* a in (b, c): a == b or a == c. */
static enum type
parse_in(struct parser *p, struct side a)
{
    bool negated = parser_accept(p, "not");
    size_t at = parser_column(p);
    struct side b;

    if (!parser_is(p, "in"))
        return parser_unexpected(p, "'in'");
    parser_expect(p, "in");
    parser_expect(p, "(");
    for (size_t n = 0; n == 0 || parser_accept(p, ","); n++) {
        if (n > 0)
            parser_repeat(p, a.from, a.to);
        b = parse_side(p);
        check_sides(p, &a, &b, OP_EQUAL, at);
        parser_emit_code(p, OP_EQUAL);
        if (n > 0)
            parser_emit_code(p, OP_OR);
    }
    parser_expect(p, ")");
    if (negated)
        parser_emit_code(p, OP_NOT);
    return TYPE_TRUTH;
}

static bool
is_relation(const struct parser *p)
{
    for (const struct sign *s = relations; s->text != NULL; s++)
        if (parser_is(p, s->text))
            return true;
    return false;
}

static enum type
parse_compare(struct parser *p)
{
    struct side a = parse_side(p);

    if (parser_is(p, "in") || parser_is(p, "not"))
        return parse_in(p, a);
    return is_relation(p) ? parse_chain(p, a) : a.type;
}

static enum type
parse_not(struct parser *p)
{
    size_t at = parser_column(p);
    enum type type = TYPE_NONE;

    if (go_deeper(p) && parser_accept(p, "not")) {
        parser_need(p, parse_not(p), TYPE_TRUTH, at, "'not'");
        parser_emit_code(p, OP_NOT);
        type = TYPE_TRUTH;
    } else {
        type = parse_compare(p);
    }
    p->depth--;
    return type;
}

/* operand (word operand)*, all of them truth values. */
static enum type
parse_words(struct parser *p, const char *word, enum op_code code,
            enum type (*operand)(struct parser *))
{
    enum type type = operand(p);
    size_t at = parser_column(p);
    char who[8];

    snprintf(who, sizeof who, "'%s'", word);
    while (parser_accept(p, word)) {
        parser_need(p, type, TYPE_TRUTH, at, who);
        parser_need(p, operand(p), TYPE_TRUTH, at, who);
        parser_emit_code(p, code);
        at = parser_column(p);
    }
    return type;
}

static enum type
parse_and(struct parser *p)
{
    return parse_words(p, "and", OP_AND, parse_not);
}

enum type
parser_or(struct parser *p)
{
    return parse_words(p, "or", OP_OR, parse_and);
}

/* The text, cut behind the constraint, and room for the texts in it: each
 * takes a byte more there than it lost with its quotes. */
static bool
keep_source(struct expression *e, const char *text)
{
    struct lexer l;
    size_t len;

    for (lexer_init(&l, text); l.token.kind != TOKEN_END;)
        lexer_step(&l);
    len = (size_t)(l.token.at - text);
    e->source = calloc(2 * len + 2, 1);
    if (e->source == NULL)
        return false;
    memcpy(e->source, text, len);
    while (len > 0 && (e->source[len - 1] == ' ' || e->source[len - 1] == '\t'))
        e->source[--len] = '\0';
    e->texts = e->source + len + 1;
    return true;
}

const char *
expression_parse(struct expression *e, const char *text,
                 const struct tp_host *host, const struct tp_space *space,
                 char why[EXPRESSION_WHY_MAX])
{
    struct parser p = {.e = e, .host = host, .space = space, .why = why};
    enum type type;

    *e = (struct expression){0};
    if (!keep_source(e, text)) {
        snprintf(why, EXPRESSION_WHY_MAX, "out of memory");
        return NULL;
    }
    lexer_init(&p.lexer, text);
    type = parser_or(&p);
    if (!p.failed && p.lexer.token.kind != TOKEN_END)
        parser_unexpected(&p, "an operator or the end");
    parser_need(&p, type, TYPE_TRUTH, 1, "a constraint");
    return p.failed ? NULL : p.lexer.token.at;
}
