/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/verb.h"

#include "client/remote.h"
#include "core/buf.h"
#include "core/err.h"
#include "json.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MOST 1000

static const char help[] =
    "usage: tunepipe ask DIR [--config FILE] [-n N]\n"
    "\n"
    "Asks a study for a trial, and prints it as a line of JSON:\n"
    "\n"
    "  {\"trial\": 0, \"parameters\": {\"lr\": 0.01}}\n"
    "\n"
    "with \"budget\", \"step\", \"restore_dir\" and \"checkpoint_dir\" where the\n"
    "trial has them (tunepipe-study(1)).  It stays open until `tunepipe tell`\n"
    "tells what came out.  DIR is the study's folder.\n"
    "\n"
    "  --config FILE  makes the study where DIR is absent or empty, from the\n"
    "                 keys of tunepipe run without trialCommand; else it has to\n"
    "                 be the same study\n"
    "  --count N, -n N\n"
    "                 so many trials, a line each; default 1\n"
    "\n"
    "Exit status: 0 there they are; 1 the study was stopped, or the server\n"
    "cannot be started; 2 usage; 3 no study, another study, or its\n"
    "configuration is wrong; 5 the command log is damaged; 9 there are no more.\n"
    "\n"
    "Example: tunepipe ask digits --config digits.yml\n";

struct words {
    const char *config;
    uint64_t count;
};

static const struct option options[] = {
    {"config", OPTION_TEXT, offsetof(struct words, config), "FILE"},
    {"count", OPTION_UINT, offsetof(struct words, count), "N"},
};
#define N_OPTIONS (sizeof options / sizeof *options)

struct asking {
    uint64_t left;
    struct err err; /* the first that there was */
    bool over;      /* so it was for that no trial will come any more */
};

/* What the trial's folder is, and which attempt this one, is for programs that
 * go on asking. */
static int
print_trial(struct jval trial, struct err *err)
{
    struct jval_iter it = jval_iter(trial);
    struct verb_json line;
    struct json_writer *w = verb_json_begin(&line);

    while (jval_next(&it))
        if (strcmp(it.key, "folder") != 0 && strcmp(it.key, "attempt") != 0)
            jval_write(it.value, json_value(w, it.key));
    return verb_json_print(&line, stdout, err);
}

static void
hear(void *ctx, struct remote_answer *answer)
{
    struct asking *a = ctx;
    const struct err *why = answer->err;
    struct err err = {0};

    a->left--;
    if (why == NULL && print_trial(answer->value, &err) != 0)
        why = &err;
    if (why == NULL || a->err.code != ERR_NONE)
        return;
    a->err = *why;
    a->over = answer->over;
}

static int
send_ask(struct remote *remote, struct err *err)
{
    struct buf text;
    struct json_writer w;
    uint64_t id;
    int rc;

    buf_init(&text, CONTROL_LINE_MAX);
    w = json_begin_object(&text);
    json_add_text(&w, "command", "ask");
    json_add_bool(&w, "detached", true);
    json_close(&w);
    rc = remote_send(remote, buf_text(&text), &id, err);
    buf_fini(&text);
    return rc;
}

static int
ask(const char *folder, const struct words *w, bool *over, struct err *err)
{
    struct asking a = {.left = w->count};
    struct remote remote;
    int rc = 0;

    if (remote_open(&remote, folder, w->config, hear, &a, err) != 0)
        return -1;
    for (uint64_t i = 0; rc == 0 && i < w->count; i++)
        rc = send_ask(&remote, err);
    while (rc == 0 && a.left > 0) {
        rc = remote_turn(&remote, true, err);
        fflush(stdout);
    }
    remote_close(&remote, false);
    if (rc == 0 && a.err.code != ERR_NONE) {
        *err = a.err;
        *over = a.over;
        rc = -1;
    }
    return rc;
}

static int
run(int argc, char **argv)
{
    static char count[] = "--count";
    struct words w = {.count = 1};
    struct err err = {0};
    bool over = false;
    int status;

    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "-n") == 0)
            argv[i] = count;
    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("ask", &err);
    if (argc != 2 || w.count < 1 || w.count > MOST) {
        err_set(&err, ERR_USAGE,
                argc != 2 ? "expected one folder; see --help"
                          : "--count: expected a number from 1 to %d",
                MOST);
        return verb_fail("ask", &err);
    }
    if (ask(argv[1], &w, &over, &err) == 0)
        return verb_printed("ask", EXIT_DONE);
    status = verb_fail("ask", &err);
    return over ? EXIT_FINISH : status;
}

const struct verb verb_ask = {
    .name = "ask",
    .summary = "ask a study for a trial",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FOLDER",
};
