/* SPDX-License-Identifier: MIT */
/* dims.h - what a struct space is made of; for the files of src/space only.
 *
 * Dimensions are flattened depth first: a choice, then all that hangs on its
 * element 0, then on element 1, and so on.  So a subtree is a run of indexes,
 * and what is not chosen is stepped over in one go. */
#ifndef SPACE_DIMS_H
#define SPACE_DIMS_H

#include "core/buf.h"
#include "json.h"
#include "tunepipe/plugin.h"

#include <stdbool.h>
#include <stddef.h>

/* What all names and choices of one space may take as text. */
#define SPACE_TEXT_MAX ((size_t)256 * 1024 * 1024)

/* The kinds of NNI's table, in the order of enum tp_dim_kind. */
struct kind {
    const char *name;
    int kind, flags;
    size_t n_values;
    const char *values; /* what _value holds, as users know it */
};

enum { N_KINDS = 10 };
extern const struct kind space_kinds[N_KINDS];

/* Where an element's text lies in space.texts. */
struct text {
    size_t at, len;
};

/* What a dimension is for the host, beside its struct tp_dim. */
struct dim {
    const char *key;  /* as in the JSON, borrowed from space.document */
    struct text name; /* with a NUL behind it */
    double low, high; /* in the user's unit; uniform kinds */
    size_t end;       /* the first index behind this subtree */
    bool nested;
    struct text *elements; /* CHOICE: as they are emitted, but for sub-
                              parameters */
    size_t *subs;          /* nested: element e has subs[e]..subs[e+1]-1 */
    struct jval list;      /* CHOICE: the elements, in space.document */
};

struct space {
    struct tp_space shared; /* what plugins see; points to `tp` */
    struct tp_dim *tp;
    struct dim *dim; /* as many */
    size_t n, cap;
    struct buf texts;
    struct json *document; /* our own copy */
};

/* As Python's min(max(v, low), high) does. */
static inline double
clip(double v, double low, double high)
{
    v = low > v ? low : v;
    return high < v ? high : v;
}

/* Whether dimension i is chosen, its parent being active. */
static inline bool
dim_is_chosen(const struct space *s, const double *x, size_t i)
{
    const struct tp_dim *d = &s->tp[i];

    return d->parent == TP_NO_PARENT ||
           x[d->parent] == (double)d->parent_choice;
}

/* The value a trial sees at internal coordinate x, of a dimension that is no
 * index. */
double dim_value(const struct space *s, size_t i, double x);

#endif
