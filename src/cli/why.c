/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"

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
#include <stdlib.h>
#include <string.h>

#define REPLY_MAX 65536

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
};

static const struct option options[] = {
    {"json", OPTION_FLAG, offsetof(struct words, json), NULL}};
#define N_OPTIONS (sizeof options / sizeof *options)

static bool
is_number(const char *text, uint64_t *out)
{
    return number_parse_u64(text, strlen(text), out);
}

static void
print(struct jval answer, bool json)
{
    const char *trial = "", *status = "", *waits = "";
    struct buf line;
    struct jval v;

    if (json) {
        buf_init(&line, REPLY_MAX);
        jval_write(answer, &line);
        puts(buf_text(&line));
        buf_fini(&line);
        return;
    }
    if (jval_get(answer, "trial", &v))
        jval_string(v, &trial, NULL);
    if (jval_get(answer, "status", &v))
        jval_string(v, &status, NULL);
    if (jval_get(answer, "waits", &v))
        jval_string(v, &waits, NULL);
    visible_printf(stdout, "trial %s is %s: %s\n", trial, status, waits);
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
        printf("{\"trial\": \"%s\", \"status\": \"interrupted\", "
               "\"waits\": \"its experiment is not running\"}\n",
               r->items[i].trial);
    else
        printf("trial %s is interrupted: its experiment is not running; to run "
               "it again: tunepipe resume %s\n",
               r->items[i].trial, folder);
    results_free(r);
    return true;
}

static int
ask(const char *given, uint64_t trial, bool json, struct err *err)
{
    char *folder = target_folder("why", given, err), request[80];
    struct json *doc = NULL;
    struct jval answer = {0};
    int rc = -1;

    snprintf(request, sizeof request, "{\"command\": \"why\", \"trial\": %llu}",
             (unsigned long long)trial);
    if (folder != NULL && tell_interrupted(folder, trial, json))
        rc = 0;
    else if (folder != NULL)
        rc = target_ask(folder, request, &doc, &answer, err);
    if (rc == 0 && doc != NULL)
        print(answer, json);
    json_free(doc);
    free(folder);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct words w = {false};
    struct err err = {0};
    uint64_t trial = 0;
    int rc;

    rc = options_parse(options, N_OPTIONS, &w, &argc, argv, &err);
    if (rc == 0 && (argc < 2 || argc > 3))
        rc = err_set(&err, ERR_USAGE,
                     "expected [DIR] TRIAL, an experiment's folder and a "
                     "trial's number; see --help");
    if (rc == 0 && !is_number(argv[argc - 1], &trial))
        rc = err_set(&err, ERR_USAGE,
                     "'%s': expected a trial's number, such as 00003",
                     argv[argc - 1]);
    if (rc == 0)
        rc = ask(argc == 3 ? argv[1] : NULL, trial, w.json, &err);
    return verb_printed("why", rc == 0 ? EXIT_DONE : verb_fail("why", &err));
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
