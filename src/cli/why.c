/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"

#include "control/control.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "core/visible.h"
#include "json.h"
#include "manager/results.h"
#include "manager/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: tunepipe why [--json] [DIR] TRIAL\n"
    "\n"
    "Says what a trial that has not started waits for: a slot of\n"
    "trialConcurrency, memory, a GPU and who has it, the end of a pause.  DIR\n"
    "is the folder that `tunepipe run` printed; without it the newest in\n"
    "./tunepipe-experiments.\n"
    "\n"
    "  --json   one object: trial, status, waits\n"
    "\n"
    "Exit status: 0 done; 1 nobody runs it, or the trial has ended or not come\n"
    "yet; 2 usage; 3 DIR is no experiment's folder.\n"
    "\n"
    "Example: tunepipe why 00012\n";

struct words {
    bool json;
    uint64_t trial;
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

static void
print_interrupted(const char *trial)
{
    struct json_writer w;
    struct buf line;

    buf_init(&line, CONTROL_LINE_MAX);
    w = json_begin_object(&line);
    json_add_text(&w, "trial", trial);
    json_add_text(&w, "status", "interrupted");
    json_add_text(&w, "waits", "its experiment is not running");
    json_close(&w);
    puts(buf_text(&line));
    buf_fini(&line);
}

/* Tells of an interrupted trial, which waits for the experiment to be resumed.
 * False: the trial is not interrupted, or the experiment runs. */
static bool
tell_interrupted(const char *folder, uint64_t trial, bool json)
{
    struct results *r = results_load(folder, NULL);
    uint64_t number;
    size_t i = 0;

    while (r != NULL && i < r->n &&
           (trial_state_of(r->items[i].status) != TRIAL_INTERRUPTED ||
            !is_number(r->items[i].trial, &number) || number != trial))
        i++;
    if (r == NULL || i == r->n || r->state == RESULTS_RUNNING) {
        results_free(r);
        return false;
    }
    if (json)
        print_interrupted(r->items[i].trial);
    else
        printf("trial %s is interrupted: its experiment is not running; to run "
               "it again: tunepipe resume %s\n",
               r->items[i].trial, folder);
    results_free(r);
    return true;
}

static int
ask(const char *folder, const void *words, struct err *err)
{
    const struct words *w = words;
    struct json_writer members;
    struct buf request;
    struct json *doc;
    struct jval answer;
    int rc;

    if (tell_interrupted(folder, w->trial, w->json))
        return 0;
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
    return target_run("why", argc - 1, argv, ask, &w);
}

const struct verb verb_why = {
    .name = "why",
    .summary = "what a trial that has not started waits for",
    .help = help,
    .run = run,
    .operand = "FOLDER",
    .options = options,
    .n_options = N_OPTIONS,
};
