/* SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include "cli/export_schedule.h"
#include "cli/options.h"
#include "cli/target.h"
#include "core/err.h"
#include "core/file.h"
#include "history/folder.h"
#include "store/export.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char help[] =
    "usage: tunepipe export [DIR] --csv [--safe] [--intermediate] [--out FILE]\n"
    "       tunepipe export [DIR] --json [--intermediate] [--out FILE]\n"
    "       tunepipe export [DIR] --schedule TRIAL [--json] [--out FILE]\n"
    "\n"
    "Writes the results of an experiment as a table: a row for each trial that\n"
    "has ended, in the order of their ends, with a column for each parameter;\n"
    "those of nested choices are OUTER/INNER.  Works while the experiment runs,\n"
    "and after a crash.  DIR is the folder that `tunepipe run` printed;\n"
    "without it the newest in ./tunepipe-experiments.\n"
    "\n"
    "  --csv            comma-separated values with a head, as RFC 4180 has\n"
    "                   them, lines ending with LF: trial, status, value,\n"
    "                   latest, duration_s, attempts, intermediates, ended_by,\n"
    "                   why, from and from_how (which trial it went on\n"
    "                   from, promoted or cloned), parameters\n"
    "  --safe           with a ' before each text that begins with = + - @, a\n"
    "                   tab or a CR, which a spreadsheet may take for a formula\n"
    "                   and run: for results of trials that you do not trust\n"
    "  --json           an array of objects, one a line\n"
    "  --intermediate   a row for each value that was reported instead: trial,\n"
    "                   attempt, type, sequence, value, said, time_us; said is\n"
    "                   what was reported where that is no plain number\n"
    "  --schedule TRIAL the line of trials that led to this one, each of which\n"
    "                   went on from the one before: from which intermediate\n"
    "                   result on it had which parameters, as the tuner\n"
    "                   pbt_replay runs it again; with --json as an object\n"
    "  --out FILE       there instead of on stdout\n"
    "\n"
    "Exit status: 0; 1 not all written; 2 usage; 3 DIR is no experiment's\n"
    "folder, or it has no such TRIAL; 5 the log is damaged.\n"
    "\n"
    "Example: tunepipe export tunepipe-experiments/digits-1 --csv > digits.csv\n";

struct words {
    bool csv, json, intermediate, safe;
    const char *schedule, *out;
};

#define OF(member) offsetof(struct words, member)
static const struct option options[] = {
    {"csv", OPTION_FLAG, OF(csv), NULL},
    {"json", OPTION_FLAG, OF(json), NULL},
    {"intermediate", OPTION_FLAG, OF(intermediate), NULL},
    {"safe", OPTION_FLAG, OF(safe), NULL},
    {"schedule", OPTION_TEXT, OF(schedule), "TRIAL"},
    {"out", OPTION_TEXT, OF(out), "FILE"},
};
#undef OF
#define N_OPTIONS (sizeof options / sizeof *options)

static int
check_words(const struct words *w, struct err *err)
{
    if (w->safe && !w->csv)
        return err_set(err, ERR_USAGE, "--safe goes with --csv");
    if (w->schedule == NULL)
        return w->csv == w->json
                   ? err_set(err, ERR_USAGE, "expected one of --csv and --json")
                   : 0;
    return w->csv || w->intermediate
               ? err_set(err, ERR_USAGE,
                         "--schedule goes with --json and --out alone")
               : 0;
}

static int
check_folder(const char *folder, struct err *err)
{
    char *path = file_join(folder, FOLDER_EXPERIMENT);
    int rc = path == NULL || access(path, R_OK) != 0
                 ? err_errno(err, ERR_CONFIG,
                             "%s is no experiment's folder: " FOLDER_EXPERIMENT
                             ": cannot open",
                             folder)
                 : 0;

    free(path);
    return rc;
}

static int
write_table(FILE *out, const struct words *w, const char *folder,
            struct err *err)
{
    enum export_form form = w->safe  ? EXPORT_CSV_SAFE
                            : w->csv ? EXPORT_CSV
                                     : EXPORT_JSON;
    uint64_t damaged = 0;
    int rc = w->schedule != NULL
                 ? export_schedule(out, w->json, folder, w->schedule, err)
             : w->intermediate
                 ? export_metrics(out, form, folder, err)
                 : export_trials(out, form, folder, &damaged, err);

    if (rc == 0 && damaged > 0)
        rc = err_set(err, ERR_INPUT,
                     "%s: %" PRIu64 " lines of " FOLDER_RESULTS
                     " are damaged and left out",
                     folder, damaged);
    return rc;
}

static int
write_file(const struct words *w, const char *folder, struct err *err)
{
    FILE *out = fopen(w->out, "we");
    int rc;
    bool whole;

    if (out == NULL)
        return err_errno(err, ERR_SYSTEM, "%s: cannot open", w->out);
    rc = write_table(out, w, folder, err);
    whole = ferror(out) == 0;
    if (fclose(out) != 0 || !whole)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot write", w->out);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};
    char *folder = NULL;
    int rc = options_parse(options, N_OPTIONS, &w, &argc, argv, &err);

    if (rc == 0)
        rc = check_words(&w, &err);
    if (rc == 0)
        folder = target_given("export", argc, argv, &err);
    rc = folder == NULL ? -1 : check_folder(folder, &err);
    if (rc == 0)
        rc = w.out != NULL ? write_file(&w, folder, &err)
                           : write_table(stdout, &w, folder, &err);
    free(folder);
    return verb_printed("export",
                        rc == 0 ? EXIT_DONE : verb_fail("export", &err));
}

const struct verb verb_export = {
    .name = "export",
    .summary = "write an experiment's results as a table",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FOLDER",
};
