/* SPDX-License-Identifier: MIT */
/* expression.h - one constraint over the parameters of a search space,
 * compiled once and evaluated on points.
 *
 *     or    := and ("or" and)*                 not   := "not" not | compare
 *     and   := not ("and" not)*
 *     compare := sum ((< | <= | > | >= | == | !=) sum)*    a < b < c: both
 *              | sum ["not"] "in" "(" sum ("," sum)* ")"
 *     sum   := term ((+ | -) term)*            term  := unary ((* | / | %)
 * unary)* unary := - unary | value ["**" unary] value := number | "text" | true
 * | false | parameter | (or) | abs(or) floor(or) ceil(or) round(or) sqrt(or)
 * exp(or) log(or) | min(or, or...) max(or, or...)
 *
 * A parameter stands for what a trial is given: a number, a truth value, or a
 * text, of a nested choice the `_name`.  It is named by its path without
 * spaces, net/units, where there is such a parameter, so that a division wants
 * spaces there; net/_name is net; `in backquotes` any name may stand.  Where
 * one of its parameters is inactive a constraint holds.  x % y has the sign of
 * y.
 *
 * One owner; any thread may evaluate. */
#ifndef FILTERS_CONSTRAINTS_EXPRESSION_H
#define FILTERS_CONSTRAINTS_EXPRESSION_H

#include "tunepipe/plugin.h"

#include <stdbool.h>

/* Of what comes from outside. */
#define EXPRESSION_OPS_MAX 4096
#define EXPRESSION_DEPTH_MAX 64 /* of signs; a parenthesis counts twice */
#define EXPRESSION_STACK_MAX 256
#define EXPRESSION_WHY_MAX 400

enum op_code {
    OP_NUMBER, /* push `number` */
    OP_TRUTH,
    OP_TEXT, /* push texts + at */
    OP_DIM,  /* push the value of dimension `at` */
    OP_NEGATE,
    OP_NOT,
    OP_ABS,
    OP_FLOOR,
    OP_CEIL,
    OP_ROUND, /* halves to even */
    OP_SQRT,
    OP_EXP,
    OP_LOG,
    OP_ADD, /* from here on two operands */
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_REMAINDER,
    OP_POWER,
    OP_MIN,
    OP_MAX,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL,
    OP_EQUAL,
    OP_UNEQUAL,
    OP_AND,
    OP_OR
};

struct op {
    enum op_code code;
    size_t at;
    double number;
};

struct expression {
    char *source; /* as it was written, and behind it ... */
    char *texts;  /* ... the texts in it, each with a NUL */
    size_t texts_len;
    struct op *ops; /* for a stack, operands first */
    size_t n_ops, cap_ops;
    size_t *dims; /* used, each once */
    size_t n_dims, cap_dims;
};

/* Compiles the constraint at `text` up to its end, a ';', '\n' or NUL.
 * Returns that, or NULL: `why` tells column and what was expected.
 * expression_fini() in either case. */
const char *expression_parse(struct expression *e, const char *text,
                             const struct tp_host *host,
                             const struct tp_space *space,
                             char why[EXPRESSION_WHY_MAX]);
void expression_fini(struct expression *e);

/* Whether it holds at x, a point of the space it was compiled for. */
bool expression_holds(const struct expression *e, const struct tp_host *host,
                      const struct tp_space *space, const double *x);

/* Writes the values of its parameters at x, "x = 0.5, y = 1", cut to size. */
void expression_describe(const struct expression *e, const struct tp_host *host,
                         const struct tp_space *space, const double *x,
                         char *out, size_t size);

#endif
