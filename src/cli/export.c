/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "core/problems.h"
#include "dispatcher/session.h"
#include "history/folder.h"
#include "json.h"
#include "log/log.h"
#include "log/record.h"
#include "space/space.h"
#include "store/export.h"
#include "store/lineage.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)64 << 20)

static struct space *
read_space(const char *folder, struct err *err)
{
    char *path = file_join(folder, FOLDER_SPACE);
    struct json *doc = NULL;
    struct space *space = NULL;
    struct problems problems;
    struct buf text;

    buf_init(&text, TEXT_MAX);
    problems_init(&problems);
    if (path == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    else if (file_read(path, TEXT_MAX, &text, err) == 0)
        doc = json_parse(buf_text(&text), text.len, JSON_STRICT, err);
    if (doc != NULL) {
        space = space_parse(json_root(doc), &problems);
        if (space == NULL)
            problems_join(&problems, err);
    }
    problems_fini(&problems);
    json_free(doc);
    buf_fini(&text);
    free(path);
    return space;
}

/* Writes a name as the schedule of pbt_replay has it (schedule.h). */
static void
write_name(struct buf *out, const char *name)
{
    for (; *name != '\0'; name++)
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                   "0123456789_./-",
                   *name) != NULL)
            buf_add_char(out, *name);
        else
            buf_printf(out, "%%%02X", (unsigned char)*name);
}

static void
write_point(struct buf *out, const struct space *space, const double *x)
{
    const struct tp_space *s = space_dims(space);

    for (size_t i = 0; i < s->n_dims; i++) {
        const struct tp_dim *d = TP_DIM(s, i);
        char value[NUMBER_TEXT_MAX];

        if (isnan(x[i]))
            continue;
        buf_add_char(out, ' ');
        write_name(out, d->name);
        number_format(space_value(space, i, x[i]), value);
        if (d->kind == TP_CHOICE)
            buf_printf(out, "=#%" PRIu64, (uint64_t)x[i]);
        else
            buf_printf(out, "=%s", value);
    }
}

static int
write_schedule(struct buf *out, const struct lineage *l, const char *folder,
               struct err *err)
{
    struct space *space = read_space(folder, err);
    double *x = NULL;
    int rc = space == NULL ? -1 : 0;

    if (space != NULL) {
        x = calloc(space_dims(space)->n_dims + 1, sizeof *x);
        rc = x == NULL ? err_set(err, ERR_MEMORY, "out of memory") : 0;
    }
    for (size_t i = 0; rc == 0 && i < l->n; i++) {
        rc = space_encode(space, lineage_parameters(&l->trials[i]), x, err);
        if (rc != 0) {
            err_place(err, "trial %s", l->trials[i].job);
            break;
        }
        buf_printf(out, "%s%" PRIu64 ":", i > 0 ? "; " : "", l->trials[i].from);
        write_point(out, space, x);
    }
    free(x);
    space_free(space);
    return rc;
}

static void
write_json(struct buf *out, const struct lineage *l, const char *schedule)
{
    struct json_writer w = json_begin_object(out);

    json_open_array(&w, "segments");
    for (size_t i = 0; i < l->n; i++) {
        json_open_object(&w, NULL);
        json_add_text(&w, "trial", l->trials[i].job);
        json_add_unsigned(&w, "from", l->trials[i].from);
        jval_write(lineage_parameters(&l->trials[i]),
                   json_value(&w, "parameters"));
        json_close(&w);
    }
    json_close(&w);
    json_add_text(&w, "schedule", schedule);
    json_close(&w);
    buf_add_char(out, '\n');
}

/* Writes which results are better, as in the experiment. */
static void
write_mode(struct buf *out, const char *folder)
{
    struct session_setup setup = {.tuner = NULL};
    struct record head;
    struct log_reader *log = log_open_in(folder, 0, NULL);
    struct json *doc =
        log != NULL ? session_load_head(log, &head, &setup, NULL) : NULL;
    const char *mode;
    struct jval v;

    if (doc != NULL && jval_get(setup.tuner_args, "optimize_mode", &v) &&
        jval_string(v, &mode, NULL))
        buf_printf(out, "    optimize_mode: %s\n", mode);
    json_free(doc);
    log_close(log);
}

/* Writes a configuration in YAML.  Its texts have no character that quotes
 * would have to escape. */
static void
write_yaml(struct buf *out, const struct lineage *l, const char *schedule,
           const char *folder)
{
    struct jval budget;

    buf_printf(out, "# The line that led to trial %s:\n",
               l->trials[l->n - 1].job);
    for (size_t i = 0; i < l->n; i++) {
        buf_printf(out, "#   from %" PRIu64 ", trial %s: ", l->trials[i].from,
                   l->trials[i].job);
        jval_write(lineage_parameters(&l->trials[i]), out);
        buf_add_char(out, '\n');
    }
    buf_printf(out,
               "tuner:\n"
               "  name: pbt_replay\n"
               "  classArgs:\n"
               "    schedule: \"%s\"\n",
               schedule);
    write_mode(out, folder);
    if (jval_get(lineage_parameters(&l->trials[l->n - 1]), "TRIAL_BUDGET",
                 &budget)) {
        buf_add_text(out, "    max_budget: ");
        jval_write(budget, out);
        buf_add_char(out, '\n');
    }
}

/* Writes YAML, of which the trials are comments and the tuner is what a
 * configuration takes; or one line of JSON.  -1: err tells. */
static int
export_schedule(FILE *out, bool as_json, const char *folder, const char *trial,
                struct err *err)
{
    struct lineage l;
    struct buf schedule, text;
    int rc;

    if (lineage_read(&l, folder, trial, err) != 0)
        return -1;
    buf_init(&schedule, TEXT_MAX);
    buf_init(&text, TEXT_MAX);
    rc = write_schedule(&schedule, &l, folder, err);
    if (rc == 0) {
        if (as_json)
            write_json(&text, &l, buf_text(&schedule));
        else
            write_yaml(&text, &l, buf_text(&schedule), folder);
        rc = buf_check(&text, "the schedule", err);
    }
    if (rc == 0)
        fwrite(buf_text(&text), 1, text.len, out);
    buf_fini(&schedule);
    buf_fini(&text);
    lineage_fini(&l);
    return rc;
}

/* ---- the verb ---- */

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
    "                   from, promoted or cloned), values by name,\n"
    "                   violation of limits on results, parameters\n"
    "  --safe           for results of trials that you do not trust: with a '\n"
    "                   before each text that begins with = + - @, a tab or a\n"
    "                   line end, which a spreadsheet may take for a formula\n"
    "                   and run, also behind a ; within it; characters that\n"
    "                   hide or turn text are ?\n"
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

static int export(const char *folder, const void *words, struct err *err)
{
    const struct words *w = words;

    if (check_folder(folder, err) != 0)
        return -1;
    return w->out != NULL ? write_file(w, folder, err)
                          : write_table(stdout, w, folder, err);
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0 ||
        check_words(&w, &err) != 0)
        return verb_fail("export", &err);
    return target_read("export", argc, argv, export, &w);
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
