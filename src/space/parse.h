/* SPDX-License-Identifier: MIT */
/* parse.h - what the files that parse a search space share.  For the files of
 * src/space only; one thread, on the stack of space_parse(). */
#ifndef SPACE_PARSE_H
#define SPACE_PARSE_H

#include "space/dims.h"
#include "space/space.h"
#include "space/place.h"

struct parse {
    struct space *s; /* half built */
    struct problems *problems;
    bool over; /* too many dimensions, or no memory: told once */
};

/* Adds a problem at `at` and, behind it, `part`; "" is the place itself. */
void parse_problem(const struct parse *p, const struct place *at,
                   const char *part, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads the _value of any kind but choice into a dimension: bounds, mu, sigma,
 * q.  The kind is set; every problem is added. */
void parse_values(const struct parse *p, const struct place *at,
                  struct jval list, struct tp_dim *d, struct dim *dim);

/* Gives every dimension of s its path for a name.  False: no memory. */
bool parse_names(struct space *s);

#endif
