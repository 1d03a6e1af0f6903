/* SPDX-License-Identifier: MIT */
/* params.h - the parameters of one trial, read from its parameters.tsv (see
 * trial/files.h).  One owner at a time. */
#ifndef TRIAL_PARAMS_H
#define TRIAL_PARAMS_H

#include <stddef.h>

struct err;
struct params;

/* Reads FOLDER/parameters.tsv, at most 64 MiB.  A line without a TAB or with
 * an unknown backslash sequence is refused with its number. */
struct params *params_load(const char *folder, struct err *err);
void params_free(struct params *params);

/* The unescaped value of a parameter, borrowed; NULL when there is none of this
 * name. */
const char *params_find(const struct params *params, const char *name);

/* Notes in the trial's folder that it asked for a parameter that it does not
 * have (trial/files.h, TRIAL_ABSENT); a failure costs the note. */
void params_note_absent(const char *folder, const char *name);

/* The names of all parameters, borrowed, in the order of the file, for
 * nearest_hint(). */
const char *const *params_names(const struct params *params, size_t *n);

#endif
