/* SPDX-License-Identifier: MIT */
/* csv.h - rows of comma-separated values, quoted as RFC 4180 says; lines end
 * with LF alone.  No I/O. */
#ifndef STORE_CSV_H
#define STORE_CSV_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

struct csv {
    struct buf *out; /* borrowed */
    bool begun;      /* the line has a field */
    bool safe;       /* what a spreadsheet would run gets a ' in front, and what
                        would hide or turn text is shown: core/visible.h */
};

void csv_field(struct csv *c, const char *text, size_t len);
void csv_text(struct csv *c, const char *text); /* NULL: an empty one */
void csv_end(struct csv *c);

#endif
