/* SPDX-License-Identifier: MIT */
#include "cli/account_view.h"
#include "cli/options.h"
#include "cli/target.h"
#include "cli/terminal.h"
#include "cli/verb.h"

#include "core/buf.h"
#include "core/err.h"
#include "manager/control_client.h"
#include "manager/results.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define ACCOUNT_MAX ((size_t)16 << 20)

static const char help[] =
    "usage: tunepipe status [DIR] [--json]\n"
    "\n"
    "How an experiment stands: its state, counts, the best result, and the\n"
    "trials that run, each with its last value and where it goes.  DIR is the\n"
    "folder that `tunepipe run` printed; without it the newest in\n"
    "./tunepipe-experiments.  One that nobody runs is told of, too: ended or\n"
    "died.\n"
    "\n"
    "  --json   one object: experiment, folder, pid, state, concurrency,\n"
    "           max_trials, max_duration_s, elapsed_s, done, running,\n"
    "           waiting, failed, stopped, cancelled, paused, interrupted,\n"
    "           optimize_mode, best {trial, value}\n"
    "           and all live trials: trial, attempt, status, latest, reports,\n"
    "           elapsed_s, recent, parameters; reason where it is paused;\n"
    "           reason and unended where no manager lives\n"
    "\n"
    "state: starting, running, paused, stopping, ending; ended, died.\n"
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

static void
print(struct jval account, bool json)
{
    struct account_view v = {.account = account, .blocks = terminal_has_utf8()};
    struct buf text;

    buf_init(&text, 4 * ACCOUNT_MAX);
    if (json) {
        jval_write(account, &text);
        buf_add_char(&text, '\n');
    } else {
        account_view_head(&v, &text);
        account_view_trials(&v, &text);
    }
    fputs(buf_text(&text), stdout);
    buf_fini(&text);
}

static int
print_past(const char *folder, bool json, struct err *err)
{
    struct results *r = results_load(folder, err);
    struct json *doc = NULL;
    struct buf text;

    if (r == NULL)
        return -1;
    buf_init(&text, ACCOUNT_MAX);
    account_of_results(r, &text);
    if (buf_check(&text, "the account", err) == 0)
        doc = json_parse(text.data, text.len, JSON_STRICT, err);
    if (doc != NULL)
        print(json_root(doc), json);
    json_free(doc);
    buf_fini(&text);
    results_free(r);
    return doc != NULL ? 0 : -1;
}

static int
print_status(const char *folder, bool json, struct err *err)
{
    const char *request = json ? REQUEST_STATUS_ALL : REQUEST_STATUS;
    struct jval account;
    struct json *doc;

    if (control_ask(folder, request, &doc, &account, err) != 0)
        return err->code == ERR_INPUT || err->number == ETIMEDOUT
                   ? -1
                   : print_past(folder, json, err);
    print(account, json);
    json_free(doc);
    return 0;
}

static int
run(int argc, char **argv)
{
    struct words w = {0};
    struct err err = {0};
    char *folder;
    int rc;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("status", &err);
    folder = target_of_words("status", argc, argv, &err);
    if (folder == NULL)
        return verb_fail("status", &err);
    rc = print_status(folder, w.json, &err);
    free(folder);
    return verb_printed("status",
                        rc == 0 ? EXIT_DONE : verb_fail("status", &err));
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
