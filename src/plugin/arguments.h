/* SPDX-License-Identifier: MIT */
/* arguments.h - what the user gave a plugin (NNI's classArgs), checked against
 * the plugin's table and completed with its defaults.
 *
 * A name with dots lies in nested objects: "tpe_args.gamma" is
 * {"tpe_args": {"gamma": ...}}.  Types are strict: an integer is written
 * without a point, a number is finite. */
#ifndef PLUGIN_ARGUMENTS_H
#define PLUGIN_ARGUMENTS_H

#include "json.h"
#include "tunepipe/plugin.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct problems;
struct arguments;

/* Whether the table itself is sound: names, types, ranges, and defaults that
 * pass their own check.  -1: err names the argument. */
int arguments_check(const struct tp_arg *table, size_t n, struct err *err);

/* `object` is an object or null (none given).  NULL when anything is wrong:
 * `problems` then holds every problem, each with `where` and the key path in
 * front ("classArgs.tpe_args.gamma: ..."), the value, what was expected and,
 * for an unknown one, the names there are.  At most 256 entries.  `table` is
 * borrowed until arguments_free() and has passed arguments_check(); the rest is
 * copied. */
struct arguments *arguments_parse(const struct tp_arg *table, size_t n,
                                  struct jval object, const char *where,
                                  struct problems *problems);
void arguments_free(struct arguments *a);

/* The values, as many as the table has rows, in its order; borrowed. */
const struct tp_value *arguments_values(const struct arguments *a);

/* The argument of type TP_ARG_SEED; false when there is none, or it is null. */
bool arguments_seed(const struct arguments *a, uint64_t *out);

/* The text of the argument of that name; NULL: there is none of the type
 * TP_ARG_STRING, or it is null.  Borrowed. */
const char *arguments_text(const struct arguments *a, const char *name);

/* Appends all arguments, defaults included, as one JSON object in the order of
 * the table: parsed again it gives the same arguments. */
void arguments_write(const struct arguments *a, struct buf *out);

#endif
