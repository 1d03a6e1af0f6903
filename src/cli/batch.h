/* SPDX-License-Identifier: MIT */
/* batch.h - an experiment's manager in a batch job of Slurm: `run --batch` and
 * `resume --batch`.  The job goes on with the folder as `tunepipe resume` does,
 * by the script FOLDER_BATCH in it, so that the same script begins it, follows
 * a time limit, and is run again where Slurm puts its job back into the queue.
 */
#ifndef CLI_BATCH_H
#define CLI_BATCH_H

#include "cli/options.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct experiment;

struct batch_words {
    bool batch;
    struct option_list options; /* a line each of the script */
};

/* Rows for the table of options of a verb whose words have a struct batch_words
 * `batch`. */
#define BATCH_OPTIONS(words)                                                \
    {"batch", OPTION_FLAG, offsetof(struct words, batch.batch), NULL},      \
    {                                                                       \
        "batch-option", OPTION_LIST, offsetof(struct words, batch.options), \
            "OPTION"                                                        \
    }

/* Refuses options that cannot stand in the script, or without --batch. */
int batch_check(const struct batch_words *w, struct err *err);

/* Makes the experiment's folder and submits its job; -1: there is none of
 * both. */
int batch_run(const struct experiment *x, const struct batch_words *w,
              struct err *err);

/* Submits a job that goes on with the experiment in this folder. */
int batch_resume(const struct experiment *x, const char *folder,
                 const struct batch_words *w, struct err *err);

/* The script, as it would be for a folder of this name. */
int batch_script(const struct experiment *x, const char *folder,
                 const struct batch_words *w, struct buf *out, struct err *err);

#endif
