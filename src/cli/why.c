/* SPDX-License-Identifier: MIT */
#include "cli/attempt.h"
#include "cli/kept.h"
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"

#include "config/experiment.h"
#include "control/control.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "core/problems.h"
#include "core/visible.h"
#include "json.h"
#include "manager/checkpoints.h"
#include "manager/display.h"
#include "manager/results.h"
#include "manager/trial.h"
#include "pack/packs.h"
#include "trial/files.h"
#include "trial/stderr_tail.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES_SHOWN 20
#define LINE_SHOWN 200

static const char help[] =
    "usage: tunepipe why [--json] [DIR] TRIAL\n"
    "\n"
    "Says why a trial is where it is.  One that has not started: what it waits\n"
    "for, a slot of trialConcurrency, memory, a GPU and who has it, the end of a\n"
    "pause.  One that runs: when a limit of time ends it.  One that has ended:\n"
    "how, with the last lines of its standard error where it did not succeed,\n"
    "and where the rest is.  DIR is the folder that `tunepipe run` printed;\n"
    "without it the newest in ./tunepipe-experiments.\n"
    "\n"
    "  --json   one object: trial, status, waits; of one that has ended trial,\n"
    "           status, why, ended_by, value, latest, duration_s, folder,\n"
    "           checkpoint (where one is kept), stderr\n"
    "\n"
    "Exit status: 0 done; 1 nobody runs it, or the trial has not come yet;\n"
    "2 usage; 3 DIR is no experiment's folder, or has no such trial.\n"
    "\n"
    "Example: tunepipe why 00012\n";

struct words {
    bool json;
    const char *word;
    uint64_t trial; /* its number */
};

static const struct option options[] = {
    {"json", OPTION_FLAG, offsetof(struct words, json), NULL}};
#define N_OPTIONS (sizeof options / sizeof *options)

static bool
is_number(const char *text, uint64_t *out)
{
    return number_parse_u64(text, strlen(text), out);
}

static int
print(struct jval answer, bool json, struct err *err)
{
    if (json)
        return target_print_answer(answer, err);
    visible_printf(
        stdout, "trial %s is %s: %s\n", jval_text_of(answer, "trial"),
        jval_text_of(answer, "status"), jval_text_of(answer, "waits"));
    return 0;
}

static int
print_interrupted(const char *folder, const char *trial, bool json,
                  struct err *err)
{
    struct verb_json line;
    struct json_writer *w;

    if (!json) {
        visible_printf(
            stdout,
            "trial %s is interrupted: its experiment is not running; to run "
            "it again: %s %s\n",
            trial, results_resume(folder), folder);
        return 0;
    }
    w = verb_json_begin(&line);
    json_add_text(w, "trial", trial);
    json_add_text(w, "status", "interrupted");
    json_add_text(w, "waits", "its experiment is not running");
    return verb_json_print(&line, stdout, err);
}

/* ---- one that has ended ---- */

static void
print_line(void *ctx, const char *text, size_t len)
{
    struct buf line;

    (void)ctx;
    buf_init(&line, STDERR_TAIL_MAX);
    visible_text(&line, text, len, LINE_SHOWN);
    printf("    | %s\n", buf_text(&line));
    buf_fini(&line);
}

static void
add_line(void *lines, const char *text, size_t len)
{
    json_add_string(lines, NULL, text, len);
}

/* Whose doing the end was, where the status does not say it. */
static const char *
by_whom(const struct result *r)
{
    static const char *const told[] = {"assessor", "tuner", "user"};

    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (strcmp(r->ended_by, told[i]) == 0)
            return told[i];
    return NULL;
}

/* Says what was looked for in a trial that left no result, and not found. */
static void
print_missed(const struct results *all, const struct result *r,
             const char *folder)
{
    struct problems problems;
    struct experiment *x;
    struct err err = {0};
    struct buf missed;

    problems_init(&problems);
    buf_init(&missed, STDERR_TAIL_MAX);
    x = kept_read(all, &problems, &err);
    if (x != NULL && trial_explain_no_final(&missed, r->why, x->n_patterns > 0,
                                            r->has_latest, folder))
        visible_printf(stdout, "  %s\n", buf_text(&missed));
    experiment_free(x);
    buf_fini(&missed);
    problems_fini(&problems);
}

/* Prints the values by name, and the result that they stand beside. */
static void
print_values(const struct results *all, const struct result *r, bool good)
{
    struct json *doc =
        json_parse(r->values, strlen(r->values), JSON_STRICT, NULL);
    struct buf text;

    buf_init(&text, STDERR_TAIL_MAX);
    if (all->objectives == NULL && r->has_value)
        buf_printf(&text, "%.6g ", r->value);
    if (doc != NULL)
        display_values(&text, json_root(doc));
    visible_printf(stdout, good ? ", with %s" : " (last values %s)",
                   buf_text(&text));
    buf_fini(&text);
    json_free(doc);
}

static void
print_ended(const struct results *all, const struct result *r,
            const struct attempt *a, const char *phase, struct packs *k,
            const char *checkpoint)
{
    bool good = strcmp(r->status, trial_state_name(TRIAL_SUCCEEDED)) == 0;
    const char *by = good ? NULL : by_whom(r);
    char last[STDERR_TAIL_MAX];

    visible_printf(stdout, "trial %s %s", r->trial, r->status);
    if (by != NULL)
        visible_printf(stdout, " by the %s", by);
    printf(" after %.1f s", r->duration_s);
    if (r->place[0] != '\0')
        visible_printf(stdout, " as %s, queued %.1f s", r->place, r->queued_s);
    if (r->why[0] != '\0')
        visible_printf(stdout, ": %s", r->why);
    if ((good || all->objectives != NULL) && strcmp(r->values, "null") != 0)
        print_values(all, r, good);
    else if (good && r->has_value)
        printf(", with %.6g", r->value);
    else if (!good && (r->has_value || r->has_latest))
        printf(" (last value %.6g)", r->has_value ? r->value : r->latest);
    putchar('\n');
    if (phase == NULL)
        return;
    if (!good)
        print_missed(all, r, a->folder);
    if (!good && stderr_tail_read(phase, k, last) > 0) {
        visible_printf(stdout, "  the last lines of %s/" TRIAL_STDERR ":\n",
                       phase);
        stderr_tail_lines(phase, k, LINES_SHOWN, print_line, NULL);
    }
    visible_printf(stdout,
                   "  all that it printed: tunepipe trial output %s "
                   "[--stderr]; its files: %s%s\n",
                   a->name, a->folder,
                   access(a->folder, F_OK) == 0
                       ? ""
                       : ", once tunepipe unpack has put them there");
    if (checkpoint != NULL)
        visible_printf(stdout, "  its newest checkpoint: %s\n", checkpoint);
}

static int
print_ended_json(const struct result *r, const struct attempt *a,
                 const char *phase, struct packs *k, const char *checkpoint,
                 struct err *err)
{
    struct verb_json page;
    struct json_writer *w = verb_json_begin(&page);

    json_add_text(w, "trial", r->trial);
    json_add_text(w, "status", r->status);
    json_add_text(w, "why", r->why);
    json_add_text(w, "ended_by", r->ended_by);
    json_add_number(w, "value", r->has_value ? r->value : (double)NAN);
    json_add_number(w, "latest", r->has_latest ? r->latest : (double)NAN);
    json_add_number(w, "duration_s", r->duration_s);
    if (r->place[0] != '\0') {
        json_add_text(w, "place", r->place);
        json_add_number(w, "queued_s", r->queued_s);
    }
    json_add_text(w, "folder", a->folder);
    if (checkpoint != NULL)
        json_add_text(w, "checkpoint", checkpoint);
    json_open_array(w, "stderr");
    if (phase != NULL)
        stderr_tail_lines(phase, k, LINES_SHOWN, add_line, w);
    json_close(w);
    return verb_json_print(&page, stdout, err);
}

static int
tell_ended(const struct results *all, const struct result *r, bool json,
           struct err *err)
{
    struct attempt a;
    char *phase = NULL, *checkpoint = checkpoints_kept(all->folder, r->trial);
    struct packs *k = packs_new(); /* else what is packed is not found */
    int rc = 0;

    /* Its files may be gone: what is on record is not. */
    if (attempt_find(all->folder, r->trial, &a, NULL) == 0)
        phase = stderr_tail_folder(a.folder, k);
    if (json)
        rc = print_ended_json(r, &a, phase, k, checkpoint, err);
    else
        print_ended(all, r, &a, phase, k, checkpoint);
    packs_free(k);
    free(checkpoint);
    free(phase);
    free(a.folder);
    return rc;
}

/* 1: the experiment, which has ended, has a trial that did not.  -1: it has no
 * such trial. */
static int
find_unended(const char *folder, const char *word, struct err *err)
{
    struct attempt a;

    if (attempt_find(folder, word, &a, err) != 0)
        return -1;
    free(a.folder);
    return 1;
}

/* Tells of a trial that has ended, or was interrupted and waits for the
 * experiment to be resumed.  1: neither is so; -1: err tells. */
static int
tell_recorded(const char *folder, const struct words *w, struct err *err)
{
    struct results *r = results_load(folder, RESULTS_NONE, NULL);
    struct result one;
    int rc = 1;

    if (r != NULL && results_find(folder, w->trial, &one)) {
        bool cut = trial_state_of(one.status) == TRIAL_INTERRUPTED;

        if (!cut)
            rc = tell_ended(r, &one, w->json, err);
        else if (r->state != RESULTS_RUNNING)
            rc = print_interrupted(folder, one.trial, w->json, err);
        result_fini(&one);
    }
    if (rc == 1 && r != NULL && r->state == RESULTS_ENDED)
        rc = find_unended(folder, w->word, err);
    results_free(r);
    return rc;
}

static int
ask(const char *folder, const void *words, struct err *err)
{
    const struct words *w = words;
    struct json_writer members;
    struct buf request;
    struct json *doc;
    struct jval answer;
    int rc = tell_recorded(folder, w, err);

    if (rc <= 0)
        return rc;
    buf_init(&request, CONTROL_LINE_MAX);
    members = json_begin_object(&request);
    json_add_text(&members, "command", "why");
    json_add_unsigned(&members, "trial", w->trial);
    json_close(&members);
    rc = target_ask(folder, buf_text(&request), &doc, &answer, err);
    buf_fini(&request);
    if (rc == 0)
        rc = print(answer, w->json, err);
    json_free(doc);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};
    int rc;

    rc = options_parse(options, N_OPTIONS, &w, &argc, argv, &err);
    if (rc == 0 && (argc < 2 || argc > 3))
        rc = err_set(&err, ERR_USAGE,
                     "expected [DIR] TRIAL, an experiment's folder and a "
                     "trial's number; see --help");
    if (rc == 0 && !is_number(argv[argc - 1], &w.trial))
        rc = err_set(&err, ERR_USAGE,
                     "'%s': expected a trial's number, such as 00003",
                     argv[argc - 1]);
    if (rc != 0)
        return verb_fail("why", &err);
    w.word = argv[argc - 1];
    return target_run("why", argc - 1, argv, ask, &w);
}

const struct verb verb_why = {
    .name = "why",
    .summary = "what a trial waits for, or how it ended",
    .help = help,
    .run = run,
    .operand = "FOLDER",
    .options = options,
    .n_options = N_OPTIONS,
};
