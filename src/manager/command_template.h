/* SPDX-License-Identifier: MIT */
/* command_template.h - a command for /bin/sh -c in which {NAME} stands for the
 * value of a parameter, quoted; and quoting for a shell.  No I/O.  Any thread.
 *
 * NAME is what `tunepipe trial param` takes ("lr", "net/units"): a parameter
 * that the trial has, or one of the search space, whose value is empty where
 * the trial does not have it.  All other braces stay as they are, ${NAME} too,
 * and {{NAME}} becomes {NAME}. */
#ifndef MANAGER_COMMAND_TEMPLATE_H
#define MANAGER_COMMAND_TEMPLATE_H

#include "json.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct problems;
struct space;

/* Appends the command.  -1 (ERR_INPUT): a value that a shell could read as code
 * stands where it cannot be quoted, or holds a NUL byte.  space: NULL where it
 * is not known. */
int command_template_fill(const char *command, const struct space *space,
                          struct jval parameters, struct buf *out,
                          struct err *err);

/* Adds a problem for each {NAME} that stands where some value of its parameter
 * cannot be quoted, as "PLACE: KEY: {NAME} ...". */
void command_template_check(const char *command, const struct space *space,
                            const char *place, const char *key,
                            struct problems *problems);

/* Adds a note for each {NAME} that is none, where one that the search space has
 * is near, where it is a nested choice, or, if trials have no parameters but
 * the search space's, where it is an argument; and for each that is empty in
 * some trials.  written: the search space as it is written. */
void command_template_note(const char *command, const struct space *space,
                           struct jval written, bool has_all, const char *place,
                           const char *key, struct problems *notes);

/* Appends a text as one word of a shell: with quotes, where it needs any. */
void shell_quote(struct buf *out, const char *text, size_t len);

#endif
