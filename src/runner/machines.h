/* SPDX-License-Identifier: MIT */
/* machines.h - the machines that trials of an experiment run on, as far as they
 * are known by name, and which of them are left out: one on which trials fail
 * in a row, as those elsewhere do not, or one that cannot run any.  Which they
 * are is kept in the experiment's folder.  One thread. */
#ifndef RUNNER_MACHINES_H
#define RUNNER_MACHINES_H

#include "core/map.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;
struct json_writer;

#define FOLDER_MACHINES "machines.json"
#define MACHINES_ROW 3 /* failures; below that nothing is said of a machine */
#define MACHINES_WHY_MAX 300

struct machines {
    struct map all;   /* struct machine_record, by their names */
    uint64_t changes; /* of what is left out, so far */
};

/* A zeroed one knows none. */
void machines_fini(struct machines *m);

/* Reads which are left out, and writes it, or that there are none. */
int machines_load(struct machines *m, const char *folder, struct err *err);
int machines_save(const struct machines *m, const char *folder,
                  struct err *err);

/* A trial has ended there: well, or it has failed. */
void machines_ended(struct machines *m, const char *name, bool well);

/* The name, borrowed, of one that is left out from now on, as what has ended
 * tells; NULL: there is no other one.  It never is the last on which trials
 * have ended well. */
const char *machines_judge(struct machines *m);

/* Leaves it out, whatever has ended there; false: it was before. */
bool machines_leave_out(struct machines *m, const char *name, const char *why);

/* Why it is left out; NULL: it is not. */
const char *machines_why(const struct machines *m, const char *name);

/* Takes it back.  -1: it is not left out, and err names what is. */
int machines_retry(struct machines *m, const char *name, struct err *err);

/* Appends the names of those that are left out, between commas. */
void machines_add_names(const struct machines *m, struct buf *out);
/* Writes them into an open array: {"machine": NAME, "why": TEXT}. */
void machines_write(const struct machines *m, struct json_writer *w);

#endif
