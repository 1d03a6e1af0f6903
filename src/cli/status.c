/* SPDX-License-Identifier: MIT */
#include "cli/account_view.h"
#include "cli/options.h"
#include "cli/target.h"
#include "cli/terminal.h"
#include "cli/verb.h"

#include "control/client.h"
#include "core/buf.h"
#include "core/err.h"
#include "manager/results.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#define ACCOUNT_MAX ((size_t)16 << 20)

static const char help[] =
    "usage: tunepipe status [DIR] [--json]\n"
    "\n"
    "How an experiment stands: its state, counts, the best result, and the\n"
    "trials that run, each with its last value and where it goes.  DIR is the\n"
    "folder that `tunepipe run` printed; without it the newest in\n"
    "./tunepipe-experiments.  One that nobody runs is told of, too: ended,\n"
    "died, queued as a batch job, or forked and not started.\n"
    "\n"
    "  --json   one object: experiment, folder, pid, state, concurrency,\n"
    "           max_trials, max_duration_s, elapsed_s, done, running,\n"
    "           waiting, failed, stopped, timed_out, cancelled, paused,\n"
    "           interrupted, optimize_mode, best {trial, value, budget (where\n"
    "           others had less)}, with objectives an array of the front,\n"
    "           beside objective (that latest and recent are of), front (how\n"
    "           many), hypervolume, grew_by, since;\n"
    "           and all live trials: trial, attempt, status, latest, reports,\n"
    "           elapsed_s, recent, parameters; reason where it is paused;\n"
    "           left_out {machine, why}, where any is; reason and unended where no manager lives\n"
    "\n"
    "state: starting, running, paused, stopping, ending; ended, died, queued,\n"
    "forked.\n"
    "\n"
    "Exit status: 0; 1 not told; 2 usage; 3 DIR is no experiment's folder.\n"
    "\n"
    "Example: tunepipe status\n";

struct words {
    bool json;
};

static const struct option options[] = {
    {"json", OPTION_FLAG, offsetof(struct words, json), NULL},
};
#define N_OPTIONS (sizeof options / sizeof *options)

static int
print(struct jval account, bool json, struct err *err)
{
    struct account_view v = {.account = account, .blocks = terminal_has_utf8()};
    struct buf text;

    if (json)
        return target_print_answer(account, err);
    buf_init(&text, 4 * ACCOUNT_MAX);
    account_view_head(&v, &text);
    account_view_trials(&v, &text);
    fputs(buf_text(&text), stdout);
    buf_fini(&text);
    return 0;
}

static int
print_past(const char *folder, bool json, struct err *err)
{
    struct results *r = results_load(folder, RESULTS_COUNTS, err);
    struct json *doc = NULL;
    struct buf text;
    int rc = -1;

    if (r == NULL)
        return -1;
    buf_init(&text, ACCOUNT_MAX);
    account_of_results(r, &text);
    if (buf_check(&text, "the account", err) == 0)
        doc = json_parse(text.data, text.len, JSON_STRICT, err);
    if (doc != NULL)
        rc = print(json_root(doc), json, err);
    json_free(doc);
    buf_fini(&text);
    results_free(r);
    return rc;
}

static int
print_status(const char *folder, const void *words, struct err *err)
{
    const struct words *w = words;
    const char *request = w->json ? REQUEST_STATUS_ALL : REQUEST_STATUS;
    struct jval account;
    struct json *doc;
    int rc;

    if (control_ask(folder, request, &doc, &account, err) != 0)
        return err->code == ERR_INPUT || err->number == ETIMEDOUT
                   ? -1
                   : print_past(folder, w->json, err);
    rc = print(account, w->json, err);
    json_free(doc);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("status", &err);
    return target_run("status", argc, argv, print_status, &w);
}

const struct verb verb_status = {
    .name = "status",
    .summary = "how an experiment stands",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FOLDER",
};
