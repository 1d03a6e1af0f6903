/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/target.h"
#include "cli/verb.h"

#include "config/eventname.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "json.h"
#include "manager/control_client.h"
#include "manager/results.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST_MAX 4096
#define LINE_MAX_BYTES ((size_t)256 << 20)

static const char help[] =
    "usage: tunepipe wait [DIR] EVENT [--timeout TIME] [--count N]\n"
    "\n"
    "Waits until something happens in an experiment that runs, and prints\n"
    "what, a line of JSON an event.  DIR is the folder that `tunepipe run`\n"
    "printed; without it the newest in ./tunepipe-experiments.  EVENT is a\n"
    "name, or a pattern such as 'trial.*':\n"
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
};

static const struct option options[] = {
    {"timeout", OPTION_DURATION, offsetof(struct words, timeout_ms), "TIME"},
    {"count", OPTION_UINT, offsetof(struct words, count), "N"},
};
#define N_OPTIONS (sizeof options / sizeof *options)

/* Waits for the manager.  1: there is something to read; 0: the time is over.
 * Tells when the manager is stopped (SIGSTOP). */
static int
await(const struct control_link *l, int64_t deadline_ns)
{
    struct pollfd p = {.fd = l->fd, .events = POLLIN};
    int64_t left_ms;
    bool said = false;
    int n;

    do {
        control_link_note_stopped(l, "wait", &said);
        left_ms = CONTROL_LOOK_MS;
        if (deadline_ns > 0) {
            left_ms = (deadline_ns - clock_monotonic_ns() + 999999) / 1000000;
            left_ms = left_ms < 0                 ? 0
                      : left_ms > CONTROL_LOOK_MS ? CONTROL_LOOK_MS
                                                  : left_ms;
        }
        n = poll(&p, 1, (int)left_ms);
    } while (n < 0 ? errno == EINTR
                   : n == 0 && (deadline_ns == 0 ||
                                clock_monotonic_ns() < deadline_ns));
    return n != 0;
}

/* Prints the answer if it is an event; else err says why no more will come. */
static bool
print_event(struct jval answer, const char *event, struct err *err)
{
    const char *why = "";
    struct buf line;
    struct jval v;
    bool ok;

    if (jval_get(answer, "over", &v)) {
        jval_string(v, &why, NULL);
        err_set(err, ERR_SYSTEM, "%s: it did not happen before %s", event,
                strcmp(why, "timeout") == 0 ? "the time was over"
                                            : "the experiment had ended");
        return false;
    }
    buf_init(&line, LINE_MAX_BYTES);
    jval_write(answer, &line);
    ok = buf_check(&line, "an event", err) == 0;
    if (ok)
        puts(buf_text(&line));
    buf_fini(&line);
    fflush(stdout);
    return ok;
}

static int
take_answers(struct control_link *l, const struct words *w, const char *event,
             struct err *err)
{
    int64_t deadline_ns =
        w->timeout_ms == 0 ? 0 : clock_monotonic_ns() + w->timeout_ms * 1000000;
    uint64_t left = w->count;

    while (left > 0) {
        struct json *doc = NULL;
        struct jval answer;
        bool ok;

        if (memchr(l->in.len > 0 ? l->in.data : "", '\n', l->in.len) == NULL) {
            if (await(l, deadline_ns) == 0)
                return err_set(err, ERR_SYSTEM,
                               "%s: it did not happen before the time was over",
                               event);
            ok = control_link_fill(l, err) >= 0;
            if (!ok)
                return -1;
            continue;
        }
        if (control_link_read(l, &doc, &answer, err) != 0)
            return -1;
        ok = print_event(answer, event, err);
        json_free(doc);
        if (!ok)
            return -1;
        left--;
    }
    return 0;
}

static int
ask(struct control_link *l, const struct words *w, const char *event,
    struct err *err)
{
    struct buf request;
    int rc;

    buf_init(&request, REQUEST_MAX);
    buf_add_text(&request, "{\"command\": \"wait\", \"event\": ");
    json_write_string(&request, event, strlen(event));
    buf_printf(&request, ", \"count\": %" PRIu64, w->count);
    if (w->timeout_ms > 0)
        buf_printf(&request, ", \"timeout_ms\": %" PRId64, w->timeout_ms);
    buf_add_char(&request, '}');
    rc = buf_check(&request, "the request", err);
    if (rc == 0)
        rc = control_link_send(l, buf_text(&request), err);
    buf_fini(&request);
    return rc == 0 ? take_answers(l, w, event, err) : -1;
}

/* Whether the experiment has ended in one of the wanted states, which its
 * folder tells. */
static bool
has_ended(const char *folder, uint32_t wanted)
{
    struct results *r;
    struct buf line;
    bool ended;

    if ((wanted >> EVENT_EXPERIMENT_ENDED & 1) == 0)
        return false;
    r = results_load(folder, NULL);
    ended = r != NULL && r->state == RESULTS_ENDED;
    if (ended) {
        buf_init(&line, REQUEST_MAX * 4);
        buf_printf(&line, "{\"event\": \"%s\", \"experiment\": ",
                   event_name(EVENT_EXPERIMENT_ENDED));
        json_write_text(&line, r->id);
        buf_add_text(&line, ", \"folder\": ");
        json_write_text(&line, r->folder);
        buf_add_text(&line, ", \"why\": ");
        json_write_text(&line, r->reason);
        buf_printf(&line, ", \"trials\": %zu}", r->n);
        puts(buf_text(&line));
        buf_fini(&line);
    }
    results_free(r);
    return ended;
}

static int
wait_for(const char *folder, const char *event, uint32_t wanted,
         const struct words *w, struct err *err)
{
    struct control_link l;
    int rc;

    if (target_connect(&l, folder, err) != 0)
        return w->count == 1 && has_ended(folder, wanted) ? 0 : -1;
    rc = ask(&l, w, event, err);
    control_link_close(&l);
    return rc;
}

static int
run(int argc, char **argv)
{
    struct words w = {.count = 1};
    struct err err = {0};
    const char *event;
    char *folder;
    uint32_t wanted;
    int rc;

    if (options_parse(options, N_OPTIONS, &w, &argc, argv, &err) != 0)
        return verb_fail("wait", &err);
    if (argc < 2 || argc > 3 || w.count == 0) {
        err_set(&err, ERR_USAGE,
                argc < 2 || argc > 3 ? "expected an event; see --help"
                                     : "--count: expected a number above 0");
        return verb_fail("wait", &err);
    }
    event = argv[argc - 1];
    wanted = event_names_like(event, &err);
    if (wanted == 0) {
        err.code = ERR_USAGE;
        return verb_fail("wait", &err);
    }
    folder = target_folder("wait", argc == 3 ? argv[1] : NULL, &err);
    if (folder == NULL)
        return verb_fail("wait", &err);
    rc = wait_for(folder, event, wanted, &w, &err);
    free(folder);
    return verb_printed("wait", rc == 0 ? EXIT_DONE : verb_fail("wait", &err));
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
