/* SPDX-License-Identifier: MIT */
/* fields.h - the few members of a JSON object that a command is interested in,
 * found in one pass over the text and without a tree.  For protocol/, and
 * history/, which reads the most.  Any thread. */
#ifndef PROTOCOL_FIELDS_H
#define PROTOCOL_FIELDS_H

#include "scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct field {
    const char *key;
    size_t key_len;
    /* SCAN_END: the field is absent.  A bracket's token covers the whole
     * value. */
    struct scan_token t;
};

#define FIELD(name)                                                       \
    {                                                                     \
        .key = name, .key_len = sizeof name - 1, .t = {.type = SCAN_END } \
    }

/* Fills the fields' tokens, which point into the text; other keys are stepped
 * over; of a key that stands twice the last counts.  -1: the text is not one
 * object. */
int fields_read(const char *text, size_t len, unsigned flags,
                struct field *fields, size_t n, struct err *err);

bool field_is_absent(const struct field *f); /* or null */

/* Fills err with "byte 17: type: expected ..., not 'x'HINT"; returns -1. */
int field_refuse(const struct field *f, const char *expected, const char *hint,
                 struct err *err);

/* Read an integer of at least 0, or a bool; absent and null leave *out as it
 * is. */
int field_uint(const struct field *f, uint64_t *out, struct err *err);
int field_bool(const struct field *f, bool *out, struct err *err);

/* The index of the field's string among `names`; -1 (err names the nearest): it
 * is none of them. */
int field_choice(const struct field *f, const char *const *names, size_t n,
                 struct err *err);

/* Checks that the field is a string that is not empty.  One that holds \u0000
 * is found by field_copy(). */
int field_check_text(const struct field *f, struct err *err);

/* Decodes the field's string to *tail, NUL-terminated, and moves *tail behind
 * it.  It takes at most f->t.len + 1 bytes.  NULL: holds \u0000 (ERR_INPUT), or
 * out of memory (ERR_MEMORY). */
char *field_copy(const struct field *f, char **tail, struct err *err);

#endif
