/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"

#include "config/eventname.h"
#include "control/client.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "json.h"
#include "manager/results.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REQUEST_MAX 4096

static const char help[] =
    "usage: tunepipe wait [DIR] [EVENT] [--timeout TIME] [--count N]\n"
    "\n"
    "Waits until something happens in an experiment that runs, and prints\n"
    "what, a line of JSON an event.  DIR is the folder that `tunepipe run`\n"
    "printed; without it the newest in ./tunepipe-experiments.  EVENT is a\n"
    "name, or a pattern such as 'trial.*'; without it the experiment's end:\n"
    "\n"
    "  experiment.started  experiment.paused  experiment.continued\n"
    "  experiment.ended  trial.waiting  trial.preparing  trial.prepared\n"
    "  trial.started  trial.ended  trial.interrupted  trial.paused\n"
    "  trial.retried  metric  decision  best  plugin.error\n"
    "  dispatcher.restarted\n"
    "\n"
    "What happened before does not count, but for the end of an experiment\n"
    "that has ended.\n"
    "\n"
    "  --timeout TIME  how long, such as 10m; default: as long as it runs\n"
    "  --count N       wait for N of them; default 1\n"
    "\n"
    "Exit status: 0 it happened; 1 it did not before the time was over or\n"
    "the experiment had ended, or nobody runs it; 2 usage; 3 DIR is no\n"
    "experiment's folder.\n"
    "\n"
    "Example: tunepipe wait best --timeout 1h && ./mail-me\n";

struct words {
    int64_t timeout_ms; /* 0: none */
    uint64_t count;
    const char *event;
    uint32_t wanted; /* what the event's name means */
};

static const struct option options[] = {
    {"timeout", OPTION_DURATION, offsetof(struct words, timeout_ms), "TIME"},
    {"count", OPTION_UINT, offsetof(struct words, count), "N"},
};
#define N_OPTIONS (sizeof options / sizeof *options)

static int
refuse(const struct words *w, const char *what, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "%s: it did not happen before %s", w->event,
                   what);
}

/* Prints the answer if it is an event; else err says why no more will come. */
static int
print_event(struct jval answer, const struct words *w, struct err *err)
{
    const char *why = jval_text_of(answer, "over");
    int rc;

    if (*why != '\0')
        return refuse(w,
                      strcmp(why, "timeout") == 0 ? "the time was over"
                                                  : "the experiment had ended",
                      err);
    rc = target_print_answer(answer, err);
    fflush(stdout);
    return rc;
}

static int
take_answers(struct control_client *c, const struct words *w, struct err *err)
{
    int64_t deadline_ns =
        w->timeout_ms == 0 ? 0 : clock_monotonic_ns() + w->timeout_ms * 1000000;

    for (uint64_t left = w->count; left > 0; left--) {
        struct json *doc;
        struct jval answer;
        int rc =
            control_client_next(c, deadline_ns, "wait", &doc, &answer, err);

        if (rc == 0)
            return refuse(w, "the time was over", err);
        if (rc > 0)
            rc = print_event(answer, w, err);
        json_free(doc);
        if (rc != 0)
            return -1;
    }
    return 0;
}

static int
ask(struct control_client *c, const struct words *w, struct err *err)
{
    struct json_writer words;
    struct buf request;
    int rc;

    buf_init(&request, REQUEST_MAX);
    words = json_begin_object(&request);
    json_add_text(&words, "command", "wait");
    json_add_text(&words, "event", w->event);
    json_add_unsigned(&words, "count", w->count);
    if (w->timeout_ms > 0)
        json_add_integer(&words, "timeout_ms", w->timeout_ms);
    json_close(&words);
    rc = buf_check(&request, "the request", err);
    if (rc == 0)
        rc = control_client_send(c, buf_text(&request), err);
    buf_fini(&request);
    return rc == 0 ? take_answers(c, w, err) : -1;
}

/* Prints the end of an experiment that has ended, which its folder tells, where
 * that is wanted.  False: it was not printed. */
static bool
has_ended(const char *folder, uint32_t wanted, struct err *err)
{
    struct verb_json line;
    struct json_writer *w;
    struct results *r;
    bool ended;

    if ((wanted >> EVENT_EXPERIMENT_ENDED & 1) == 0)
        return false;
    r = results_load(folder, RESULTS_COUNTS, NULL);
    ended = r != NULL && r->state == RESULTS_ENDED;
    if (ended) {
        w = verb_json_begin(&line);
        json_add_text(w, "event", event_name(EVENT_EXPERIMENT_ENDED));
        json_add_text(w, "experiment", r->id);
        json_add_text(w, "folder", r->folder);
        json_add_text(w, "why", r->reason);
        json_add_unsigned(w, "trials", r->n);
        ended = verb_json_print(&line, stdout, err) == 0;
    }
    results_free(r);
    return ended;
}

static int
wait_for(const char *folder, const void *words, struct err *err)
{
    const struct words *w = words;
    struct control_client c;
    int rc;

    if (target_connect(&c, folder, err) != 0)
        return w->count == 1 && has_ended(folder, w->wanted, err) ? 0 : -1;
    rc = ask(&c, w, err);
    control_client_close(&c);
    return rc;
}

/* Takes the event off the operands [DIR] [EVENT]; one that is no event's name
 * is DIR, where that is there. */
static int
take_event(int *argc, char **argv, struct words *w, struct err *err)
{
    const char *last = argv[*argc - 1];

    w->event = event_name(EVENT_EXPERIMENT_ENDED);
    if (*argc > 1 && (event_names_like(last, NULL) != 0 || *argc > 2 ||
                      access(last, F_OK) != 0)) {
        w->event = last;
        --*argc;
    }
    w->wanted = event_names_like(w->event, err);
    if (w->wanted != 0)
        return 0;
    err->code = ERR_USAGE;
    return -1;
}

static int
run(int argc, char **argv)
{
    struct words w = {.count = 1};
    struct err err = {0};

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("wait", &err);
    if (argc > 3 || w.count == 0) {
        err_set(&err, ERR_USAGE,
                argc > 3 ? "expected [DIR] [EVENT]; see --help"
                         : "--count: expected a number above 0");
        return verb_fail("wait", &err);
    }
    if (take_event(&argc, argv, &w, &err) != 0)
        return verb_fail("wait", &err);
    return target_run("wait", argc, argv, wait_for, &w);
}

const struct verb verb_wait = {
    .name = "wait",
    .summary = "wait until something happens in an experiment",
    .help = help,
    .run = run,
    .options = options,
    .n_options = N_OPTIONS,
    .operand = "FOLDER",
};
