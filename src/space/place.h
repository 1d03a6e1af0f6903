/* SPDX-License-Identifier: MIT */
/* place.h - where in a search space something stands, and what stands there,
 * for error texts.  For the files of src/space only. */
#ifndef SPACE_PLACE_H
#define SPACE_PLACE_H

#include "json.h"

#include <stddef.h>

/* `net[2].units`: key "units" in element 2 of the choice at `up`.  Lives on
 * the stack of whoever walks down. */
struct place {
    const struct place *up; /* NULL: a parameter of the top */
    const char *key;
    size_t element;
};

#define PLACE_MAX 512

/* Writes the place and, behind it, `part` ("._type", or ""); returns out.
 * What does not fit is cut. */
const char *place_text(const struct place *at, const char *part,
                       char out[PLACE_MAX]);

struct shown {
    char text[80];
};

/* A value for an error text: JSON, or for arrays and objects what they are;
 * long strings are cut. */
struct shown shown(struct jval v);

#endif
