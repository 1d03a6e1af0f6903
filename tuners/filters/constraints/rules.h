/* SPDX-License-Identifier: MIT */
/* rules.h - all constraints of a search space.  One owner. */
#ifndef FILTERS_CONSTRAINTS_RULES_H
#define FILTERS_CONSTRAINTS_RULES_H

#include "expression.h"

#define RULES_MAX 1000
#define RULES_WHY_MAX (EXPRESSION_WHY_MAX + 100)

struct rules {
    const struct tp_host *host;   /* borrowed, as the next */
    const struct tp_space *space; /* NULL: there are none yet */
    struct expression *list;
    size_t n;
};

/* Compiles the constraints of the text, with ';' or line ends in between.
 * -1: `why` names the constraint, column and what was expected.  rules_fini()
 * in either case. */
int rules_init(struct rules *r, const char *text, const struct tp_host *host,
               const struct tp_space *space, char why[RULES_WHY_MAX]);
void rules_fini(struct rules *r);

/* The first that x violates, or NULL. */
const struct expression *rules_broken(const struct rules *r, const double *x);

#endif
