/* SPDX-License-Identifier: MIT */
#include "cli/attempt.h"
#include "cli/kept.h"
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "core/own.h"
#include "core/visible.h"
#include "history/folder.h"
#include "json.h"
#include "trial/stderr_tail.h"
#include "manager/rerun.h"
#include "manager/results.h"
#include "objectives/objectives.h"
#include "pack/packs.h"
#include "trial/files.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RERUNS "reruns"
#define REPORT_MAX ((size_t)64 << 10)
#define LINE_SHOWN 200

static const char help[] =
    "usage: tunepipe rerun [FOLDER] TRIAL [--in NEW] [--json]\n"
    "\n"
    "Runs one trial of an experiment once more, exactly as it was started:\n"
    "command, folder, environment, seed and parameters are those that the\n"
    "trial's folder keeps.  Only that folder's own name is replaced by the new\n"
    "one's wherever a variable holds it, so that everything it reports and\n"
    "prints lies apart.  The experiment hears nothing of it, and may run.  Its\n"
    "folder must be yours and writable by nobody else: what it says is run.\n"
    "\n"
    "FOLDER is the experiment's; without it the newest in\n"
    "./tunepipe-experiments.  TRIAL is a number as `tunepipe show` prints it, 3\n"
    "or 00003: its last attempt; or one attempt, 3.0, 3.1, ...\n"
    "\n"
    "  --in NEW   the new folder, which must not exist; default:\n"
    "             FOLDER/reruns/TRIAL-N\n"
    "  --json     {\"trial\", \"folder\", \"recorded\": {\"status\", \"value\"},\n"
    "             \"again\": {\"exit\", \"value\"}, \"same\"}; with objectives\n"
    "             \"values\" beside \"value\"\n"
    "\n"
    "Exit status: that of the trial (0 when it has said that it is done), 128\n"
    "and the number of the signal that ended it, 127 when it could not be\n"
    "started; before that 1 the new folder cannot be made; 2 usage; 3 no such\n"
    "experiment or trial.\n"
    "\n"
    "Example: tunepipe rerun tunepipe-experiments/digits-20260131-101500 17\n";

struct words {
    const char *in;
    bool json;
};

static const struct option options[] = {
    {"in", OPTION_TEXT, offsetof(struct words, in), "NEW"},
    {"json", OPTION_FLAG, offsetof(struct words, json), NULL},
};
#define N_OPTIONS (sizeof options / sizeof *options)

/* The attempt that is run again, its folder, and what is on record of it. */
struct which {
    struct attempt attempt;
    char *to;
    const struct results *results;
    /* NULL: it is another attempt's, or there is none. */
    const struct result *result;
    struct result own;
    bool json;
};

static int
find_trial(const struct results *r, const char *word, struct which *w,
           struct err *err)
{
    if (attempt_find(r->folder, word, &w->attempt, err) != 0)
        return -1;
    if (w->attempt.last && /* else the result is another attempt's */
        results_find(r->folder, strtoull(w->attempt.trial, NULL, 10), &w->own))
        w->result = &w->own;
    return 0;
}

/* Refuses a folder that is not the caller's own: what it keeps is executed. */
static int
check_own(const struct which *w, struct err *err)
{
    static const char *const names[] = {TRIAL_COMMAND, TRIAL_EXIT,
                                        TRIAL_WRAPPER_PID};
    char *pack = packs_is_packed(NULL, w->attempt.folder)
                     ? packs_path(w->attempt.folder)
                     : NULL;
    int rc = kept_check_own(w->results, err);

    if (rc == 0 && pack != NULL)
        rc = own_check(pack, 0, err);
    if (rc == 0 && (pack == NULL || access(w->attempt.folder, F_OK) == 0))
        rc = own_check(w->attempt.folder, 0, err);
    free(pack);
    for (size_t i = 0; rc == 0 && i < sizeof names / sizeof *names; i++) {
        char *path = file_join(w->attempt.folder, names[i]);

        if (path == NULL)
            rc = err_set(err, ERR_MEMORY, "out of memory");
        else if (access(path, F_OK) == 0)
            rc = own_check(path, 0, err);
        free(path);
    }
    return rc;
}

static int
choose_folder(const struct results *r, const char *in, struct which *w,
              struct err *err)
{
    char *cwd = NULL, *reruns = NULL;
    int rc = 0;

    if (in != NULL && in[0] == '/') {
        w->to = strdup(in);
    } else if (in != NULL) {
        cwd = getcwd(NULL, 0);
        w->to = cwd == NULL ? NULL : file_join(cwd, in);
    } else if ((reruns = file_join(r->folder, RERUNS)) != NULL) {
        rc = file_make_folder(reruns, err);
        for (unsigned n = 1; rc == 0; n++) {
            if (asprintf(&w->to, "%s/%s-%u", reruns, w->attempt.name, n) < 0)
                w->to = NULL;
            if (w->to == NULL || access(w->to, F_OK) != 0)
                break;
            free(w->to);
        }
    }
    free(cwd);
    free(reruns);
    if (rc == 0 && w->to == NULL)
        rc = err_set(err, ERR_MEMORY, "out of memory");
    return rc;
}

/* ---- what came of it ---- */

static int
status_of(const struct rerun_outcome *out)
{
    const struct outcome *o = &out->outcome;

    if (out->done)
        return EXIT_DONE;
    switch (o->kind) {
    case OUTCOME_EXITED:
        return o->number;
    case OUTCOME_SIGNALLED:
        return 128 + o->number;
    case OUTCOME_UNSTARTED:
        return 127;
    case OUTCOME_DECLARED:
    case OUTCOME_LOST:
        break;
    }
    return EXIT_FAILED;
}

static bool
is_equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* All values that are on record; false: there are none by name. */
static bool
recorded_values(const struct which *w, struct objective_values *all)
{
    const struct objectives *of = w->results->objectives;
    const char *text = w->result->values;
    struct json *doc;
    bool ok;

    if (of == NULL)
        return false;
    doc = json_parse(text, strlen(text), JSON_NAN, NULL);
    ok =
        doc != NULL && objectives_take_some(of, json_root(doc), all, NULL) == 0;
    json_free(doc);
    return ok;
}

static bool
is_same(const struct which *w, const struct rerun_outcome *out)
{
    struct objective_values all;

    if (w->result != NULL && w->result->has_value && out->has_final &&
        recorded_values(w, &all)) {
        for (size_t i = 0; i < w->results->objectives->n_values; i++)
            if (!is_equal(all.values[i], out->values.values[i]))
                return false;
        return true;
    }
    return w->result != NULL && w->result->has_value == out->has_final &&
           (!out->has_final || is_equal(w->result->value, out->final));
}

static void
print_value(const char *what, const char *how, bool known, double value)
{
    if (known)
        visible_printf(stdout, "%s%.17g  (%s)\n", what, value, how);
    else
        visible_printf(stdout, "%sno final result  (%s)\n", what, how);
}

static void
describe(const struct outcome *o, char *text, size_t size)
{
    switch (o->kind) {
    case OUTCOME_EXITED:
        snprintf(text, size, "exit status %d", o->number);
        return;
    case OUTCOME_SIGNALLED:
        snprintf(text, size, "signal %d", o->number);
        return;
    case OUTCOME_UNSTARTED:
        snprintf(text, size, "could not be started: %s", o->text);
        return;
    case OUTCOME_DECLARED:
        snprintf(text, size, "told to have failed: %s", o->text);
        return;
    case OUTCOME_LOST:
        snprintf(text, size, "lost: %s",
                 o->text[0] != '\0' ? o->text : "its wrapper vanished");
        return;
    }
}

/* With objectives all values, as JSON. */
static void
print_result(const struct which *w, const char *what, const char *how,
             bool known, double value, const struct objective_values *all)
{
    struct buf text;

    if (!known || all == NULL) {
        print_value(what, how, known, value);
        return;
    }
    buf_init(&text, REPORT_MAX);
    objectives_report(w->results->objectives, all->values, &text);
    visible_printf(stdout, "%s%s  (%s)\n", what, buf_text(&text), how);
    buf_fini(&text);
}

static void
print(const struct which *w, const struct rerun_outcome *out)
{
    struct objective_values all;
    char how[300], line[LINE_SHOWN];
    struct buf shown;

    describe(&out->outcome, how, sizeof how);
    if (w->result != NULL)
        print_result(w, "recorded: ", w->result->status, w->result->has_value,
                     w->result->value, recorded_values(w, &all) ? &all : NULL);
    else
        visible_printf(stdout, "recorded: nothing\n");
    print_result(w, "again:    ", how, out->has_final, out->final,
                 w->results->objectives != NULL ? &out->values : NULL);
    if (w->result != NULL)
        visible_printf(stdout, "%s\n",
                       is_same(w, out) ? "the same" : "not the same");
    stderr_tail_line(w->to, NULL, line, sizeof line);
    if (status_of(out) == 0 || line[0] == '\0')
        return;
    buf_init(&shown, 4 * LINE_SHOWN);
    visible_text(&shown, line, strlen(line), LINE_SHOWN);
    visible_printf(stdout,
                   "its last words, in %s/" TRIAL_STDERR ":\n    | %s\n", w->to,
                   buf_text(&shown));
    buf_fini(&shown);
}

static void
add_value(struct json_writer *w, const char *key, const char *text, bool known,
          double value)
{
    json_add_text(w, key, text);
    json_add_number(w, "value", known ? value : (double)NAN);
}

static void
add_values(struct json_writer *w, const struct which *which,
           const struct objective_values *all)
{
    struct buf text;

    buf_init(&text, REPORT_MAX);
    objectives_report(which->results->objectives, all->values, &text);
    json_add_raw(w, "values", buf_text(&text));
    buf_fini(&text);
}

static int
print_json(const struct which *which, const struct rerun_outcome *out,
           struct err *err)
{
    const struct result *result = which->result;
    struct verb_json line;
    struct json_writer *w = verb_json_begin(&line);
    struct objective_values all;
    char how[300];

    describe(&out->outcome, how, sizeof how);
    json_add_text(w, "trial", which->attempt.name);
    json_add_text(w, "folder", which->to);
    if (json_open_object_if(w, "recorded", result != NULL)) {
        add_value(w, "status", result->status, result->has_value,
                  result->value);
        if (result->has_value && recorded_values(which, &all))
            add_values(w, which, &all);
        json_close(w);
    }
    json_open_object(w, "again");
    add_value(w, "exit", how, out->has_final, out->final);
    if (out->has_final && which->results->objectives != NULL)
        add_values(w, which, &out->values);
    json_close(w);
    json_add_bool(w, "same", is_same(which, out));
    return verb_json_print(&line, stdout, err);
}

/* ---- */

static int
go(struct experiment *x, void *ctx)
{
    const struct which *w = ctx;
    struct rerun_outcome out;
    struct err err = {0};

    if (!w->json)
        visible_printf(stdout, "trial %s again, in %s\n", w->attempt.name,
                       w->to);
    fflush(stdout);
    if (rerun_trial(x, w->attempt.folder, w->to, &out, &err) != 0 ||
        (w->json && print_json(w, &out, &err) != 0))
        return verb_fail("rerun", &err);
    if (!w->json)
        print(w, &out);
    return status_of(&out);
}

/* Reads the operands [FOLDER] TRIAL. */
static struct results *
load(int argc, char **argv, struct err *err)
{
    const char *last = argv[argc - 1];
    struct results *r = NULL;
    char *newest;

    if (argc == 3)
        return results_load(argv[1], RESULTS_NONE, err);
    if (argc != 2 || !attempt_is_word(last)) {
        err_set(err, ERR_USAGE,
                "expected [FOLDER] TRIAL, an experiment's folder and a trial "
                "such as 3, 00003 or 3.1; see --help");
        return NULL;
    }
    newest = target_folder("rerun", NULL, err);
    if (newest != NULL)
        r = results_load(newest, RESULTS_NONE, err);
    free(newest);
    return r;
}

static int
run(int argc, char **argv)
{
    struct words words = {0};
    struct which w = {0};
    struct err err = {0};
    struct results *r;
    int status;

    if (options_parse(options, N_OPTIONS, &words, &argc, argv, &err) != 0)
        return verb_fail("rerun", &err);
    w.json = words.json;
    w.results = r = load(argc, argv, &err);
    if (r == NULL && err.code == ERR_USAGE)
        return verb_fail("rerun", &err);
    if (r == NULL || find_trial(r, argv[argc - 1], &w, &err) != 0) {
        err.code = ERR_CONFIG;
        status = verb_fail("rerun", &err);
    } else if (check_own(&w, &err) != 0 ||
               choose_folder(r, words.in, &w, &err) != 0) {
        status = verb_fail("rerun", &err);
    } else {
        status = verb_printed("rerun", kept_with("rerun", r, go, &w));
    }
    free(w.attempt.folder);
    free(w.to);
    result_fini(&w.own);
    results_free(r);
    return status;
}

const struct verb verb_rerun = {
    .name = "rerun",
    .summary = "run one trial once more, exactly as it was",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FOLDER",
};
