/* SPDX-License-Identifier: MIT */
#include "cli/module.h"
#include "cli/follow_experiment.h"
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"
#include "core/err.h"
#include "core/visible.h"
#include "store/index.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define BATCH_NS 500000000 /* all that comes within is one transaction */

static int
add(void *ctx, struct err *err)
{
    struct index_report report;

    return index_update(ctx, INDEX_ADD, &report, err);
}

/* Keeps the database up to date until the experiment's manager is gone.  Runs
 * at a low priority. */
static int
index_follow(struct index *ix, const char *folder, struct err *err)
{
    return follow_experiment(folder, BATCH_NS, add, ix, err);
}

/* ---- the verb ---- */

static const char help[] =
    "usage: tunepipe index [DIR] [--rebuild | --follow]\n"
    "\n"
    "Writes what an experiment's folder tells - its command log and its\n"
    "results - into DIR/results.db, a database of SQLite, for questions in SQL\n"
    "and for pages of `tunepipe show`.  A second call adds what is new.  Works\n"
    "while the experiment runs, and after a crash; the database may be removed\n"
    "at any time.  DIR is the folder that `tunepipe run` printed; without it\n"
    "the newest in ./tunepipe-experiments.\n"
    "\n"
    "  --rebuild   build it anew; that is done anyway when it is damaged, or\n"
    "              was made of other files or by another version\n"
    "  --follow    keep it up to date until the experiment's manager is gone,\n"
    "              at a low priority; `index: true` in the configuration of\n"
    "              tunepipe run does that\n"
    "\n"
    "Tables: experiments, trials, parameters, metrics, attempts, decisions,\n"
    "notes; views: v_best, v_trials (a column for each parameter), v_metrics.\n"
    "All of them: man tunepipe-index.\n"
    "\n"
    "Exit status: 0; 1 the database cannot be written; 2 usage; 3 DIR is no\n"
    "experiment's folder, or this build lacks SQLite; 5 the log is damaged:\n"
    "what stands before that is in the database.\n"
    "\n"
    "Example: tunepipe index tunepipe-experiments/digits-20260131-101500\n";

struct words {
    bool rebuild, follow;
};

static const struct option options[] = {
    {"rebuild", OPTION_FLAG, offsetof(struct words, rebuild), NULL},
    {"follow", OPTION_FLAG, offsetof(struct words, follow), NULL},
};
#define N_OPTIONS (sizeof options / sizeof *options)

static void
tell(const struct index *ix, const struct index_report *r)
{
    if (r->why[0] != '\0')
        fprintf(
            stderr,
            "tunepipe index: what was there is of no use (%s): built anew\n",
            r->why);
    if (r->damaged > 0)
        fprintf(stderr,
                "tunepipe index: %" PRIu64
                " lines of results.jsonl are damaged\n",
                r->damaged);
    visible_printf(
        stdout,
        "%s: %" PRIu64 " records of the log and %" PRIu64 " results %s\n",
        index_path(ix), r->records, r->results, r->anew ? "read" : "added");
}

static int
write_index(const struct words *w, struct index *ix, struct err *err)
{
    struct index_report report;
    int rc =
        index_update(ix, w->rebuild ? INDEX_ANEW : INDEX_CHECK, &report, err);

    if (rc == 0 || err->code == ERR_LOG)
        tell(ix, &report);
    return rc;
}

static int
index_folder(const char *folder, const void *words, struct err *err)
{
    const struct words *w = words;
    const struct sql *sql = database_load("tunepipe index", err);
    struct index *ix = sql == NULL ? NULL : index_new(sql, folder, err);
    int rc = -1;

    if (ix != NULL)
        rc =
            w->follow ? index_follow(ix, folder, err) : write_index(w, ix, err);
    index_free(ix);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) == 0 &&
        w.rebuild && w.follow)
        err_set(&err, ERR_USAGE, "expected only one of --rebuild and --follow");
    if (err.code != ERR_NONE)
        return verb_fail("index", &err);
    return target_read("index", argc, argv, index_folder, &w);
}

const struct verb verb_index = {
    .name = "index",
    .summary = "write an experiment's results into a database",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FOLDER",
};
