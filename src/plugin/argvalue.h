/* SPDX-License-Identifier: MIT */
/* argvalue.h - one argument of a plugin: its table entry, its value, and the
 * words in which an error speaks of them. */
#ifndef PLUGIN_ARGVALUE_H
#define PLUGIN_ARGVALUE_H

#include "json.h"
#include "tunepipe/plugin.h"

/* Limits for the `choices` of an argument. */
#define ARGVALUE_CHOICES_MAX 32
#define ARGVALUE_CHOICE_LEN_MAX 63

struct buf;
struct err;

#define ARGVALUE_SHOWN 64
#define ARGVALUE_EXPECTED 256

/* Checks v and fills *out, whose text is then its own copy (see
 * argvalue_clear).  -1: err reads "is 30, expected an integer, at most 20",
 * without the name. */
int argvalue_read(const struct tp_arg *arg, struct jval v, struct tp_value *out,
                  struct err *err);

/* argvalue_read() of arg->def, which is not NULL. */
int argvalue_default(const struct tp_arg *arg, struct tp_value *out,
                     struct err *err);

void argvalue_clear(struct tp_value *v);

/* Appends the value as JSON. */
void argvalue_write(const struct tp_arg *arg, const struct tp_value *v,
                    struct buf *out);

/* What is expected, in words: "an integer, at least 1, or null"; returns
 * out[ARGVALUE_EXPECTED]. */
const char *argvalue_expected(const struct tp_arg *arg, char *out);

/* Writes the start of v as JSON; returns out[ARGVALUE_SHOWN]. */
const char *argvalue_show(struct jval v, char *out);

/* A type's name: "integer", "number", ...; NULL when there is no such type. */
const char *argvalue_type_name(int type);

#endif
