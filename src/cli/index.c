/* SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include "cli/database.h"
#include "cli/options.h"
#include "core/err.h"
#include "store/index.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

static const char help[] =
    "usage: tunepipe index DIR [--rebuild]\n"
    "\n"
    "Writes what an experiment's folder tells - its command log and its\n"
    "results - into DIR/results.db, a database of SQLite, for questions in SQL\n"
    "and for pages of `tunepipe show`.  A second call adds what is new.  Works\n"
    "while the experiment runs, and after a crash; the database may be removed\n"
    "at any time.\n"
    "\n"
    "  --rebuild   build it anew; that is done anyway when it is damaged, or\n"
    "              was made of other files or by another version\n"
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
    bool rebuild;
};

static const struct option options[] = {
    {"rebuild", OPTION_FLAG, offsetof(struct words, rebuild), NULL},
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
    printf("%s: %" PRIu64 " records of the log and %" PRIu64 " results %s\n",
           index_path(ix), r->records, r->results, r->anew ? "read" : "added");
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct index_report report;
    struct err err = {0};
    const struct sql *sql;
    struct index *ix;
    int rc;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("index", &err);
    if (argc != 2) {
        err_set(&err, ERR_USAGE, "expected one folder; see --help");
        return verb_fail("index", &err);
    }
    sql = database_load("tunepipe index", &err);
    ix = sql == NULL ? NULL : index_new(sql, argv[1], &err);
    if (ix == NULL)
        return verb_fail("index", &err);
    rc = index_update(ix, w.rebuild ? INDEX_ANEW : INDEX_CHECK, &report, &err);
    if (rc == 0 || err.code == ERR_LOG)
        tell(ix, &report);
    index_free(ix);
    return verb_printed("index",
                        rc == 0 ? EXIT_DONE : verb_fail("index", &err));
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
