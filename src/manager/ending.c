/* SPDX-License-Identifier: MIT */
#include "manager/ending.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/visible.h"
#include "json.h"
#include "trial/stderr_tail.h"
#include "manager/delivery.h"
#include "manager/publish.h"
#include "manager/parameters.h"
#include "manager/reading.h"
#include "manager/results.h"
#include "manager/display.h"
#include "manager/state.h"
#include "manager/trial.h"
#include "trial/files.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PAYLOAD_MAX ((size_t)64 << 20)
#define STDERR_LINES 20
#define SHOWN_MAX 200
#define HELD_PAUSE_NS ((int64_t)1000 * 1000000)

void
ending_send(void *ctx, const struct attempt_end *end)
{
    const struct trial *t = end->trial;
    struct manager *m = ctx;
    struct json_writer w;
    struct buf payload;

    if (end->how != ATTEMPT_JUDGED || t->past.end_told)
        return;
    buf_init(&payload, PAYLOAD_MAX);
    w = json_begin_object(&payload);
    json_add_text(&w, "trial_job_id", t->id);
    json_add_text(&w, "event", trial_event_name(t->state));
    json_add_string(&w, "hyper_params", t->record, t->record_len);
    json_add_unsigned(&w, "attempt", reading_attempt(m, t));
    if (m->delivery->acknowledged)
        json_add_bool(&w, "sync", true);
    json_close(&w);
    if (buf_check(&payload, "the end of a trial", NULL) == 0)
        exchange_send(&m->exchange, "EN", payload.data, payload.len);
    if (m->delivery->acknowledged && trial_exited(t)) /* else it has no turn */
        lockstep_sent(&m->expected, &payload, m->exchange.last);
    buf_fini(&payload);
}

/* ---- recorded ---- */

/* Results were to be written, which went as rc and err tell: warns when they
 * begin or cease to be held in memory, and sets when that is tried again. */
static void
tell_of_held(struct manager *m, int rc, const struct err *err)
{
    bool holds = rc == 0 && m->folder.held.len > 0;

    if (rc != 0)
        manager_end(m, MANAGER_UNABLE, "%s", err->text);
    else if (holds && !m->results_held)
        progress_warn(&m->progress,
                      "tunepipe: warning: %s; the results are kept in memory "
                      "until it goes on",
                      err->text);
    else if (!holds && m->results_held)
        progress_warn(&m->progress,
                      "tunepipe: the results are written: it goes on");
    m->results_held = holds;
    if (deadlines_set(&m->deadlines, &m->results_due,
                      holds ? clock_monotonic_ns() + HELD_PAUSE_NS
                            : INT64_MAX) != 0)
        manager_end(m, MANAGER_UNABLE, "out of memory");
}

static void
write_held(void *ctx, void *of)
{
    struct manager *m = ctx;
    struct err err = {0};

    (void)of;
    tell_of_held(m, experiment_folder_flush(&m->folder, &err), &err);
}

void
ending_record(void *ctx, const struct attempt_end *end)
{
    const struct trial *t = end->trial;
    struct manager *m = ctx;
    struct err err = {0};
    int rc;

    if (end->how == ATTEMPT_LEFT && trial_began(t) &&
        experiment_folder_add_interrupted(&m->folder, t, end->seconds, &err) !=
            0)
        progress_warn(&m->progress, "tunepipe: warning: %s", err.text);
    if (end->how != ATTEMPT_JUDGED || t->past.recorded)
        return;
    rc = experiment_folder_add_result(&m->folder, t, end->seconds, &err);

    m->results_due.due = write_held;
    if (rc != 0 || m->results_held || m->folder.held.len > 0)
        tell_of_held(m, rc, &err);
}

/* ---- shown ---- */

static void
show_text(struct manager *m, const char *text, size_t len)
{
    struct buf line;

    buf_init(&line, STDERR_TAIL_MAX);
    visible_text(&line, text, len, SHOWN_MAX);
    progress_say(&m->progress, "    | %s", buf_text(&line));
    buf_fini(&line);
}

static void
show_last_lines(struct manager *m, const char *text, size_t len)
{
    const char *end = text + len, *at = end;
    size_t lines = 0;

    if (at > text && at[-1] == '\n')
        at = --end;
    while (at > text && (at[-1] != '\n' || ++lines < STDERR_LINES))
        at--;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline != NULL ? newline : end;

        show_text(m, at, (size_t)(stop - at));
        at = stop + 1;
    }
}

void
ending_show_stderr(struct manager *m, const struct trial *t)
{
    char text[STDERR_TAIL_MAX];
    size_t n = stderr_tail_read(t->folder, text);

    if (n > 0) {
        progress_say(&m->progress, "  the last lines of %s/" TRIAL_STDERR ":",
                     t->folder);
        show_last_lines(m, text, n);
    } else {
        progress_say(&m->progress,
                     "  its standard error is empty (%s/" TRIAL_STDERR ")",
                     t->folder);
    }
}

/* A program that ended well and left no result: what was looked for. */
static void
show_no_final(struct manager *m, const struct trial *t)
{
    if (strncmp(t->why, TRIAL_NO_FINAL, strlen(TRIAL_NO_FINAL)) != 0)
        return;
    if (m->pattern == NULL)
        progress_say(&m->progress,
                     "  it exited with 0, but never called tunepipe trial "
                     "report --final, tp_final(), tunepipe.final() "
                     "or nni.report_final_result()");
    else if (!t->latest.given)
        progress_say(&m->progress,
                     "  no line of %s/" TRIAL_STDOUT
                     " matches metrics.pattern with a number "
                     "as its first group",
                     t->folder);
    else
        progress_say(&m->progress, "  metrics.final is none, and it never "
                                   "called tunepipe trial report --final");
}

static void
add_parameter(void *ctx, const char *name, const char *value, size_t len)
{
    struct buf *out = ctx;

    if (out->len >= SHOWN_MAX)
        return;
    buf_add_text(out, "  ");
    display_parameter(out, name, value, len);
}

static void
say_end(struct manager *m, const struct trial *t, double seconds)
{
    struct json *doc =
        json_parse(t->parameters, strlen(t->parameters), JSON_STRICT, NULL);
    struct buf line;

    buf_init(&line, (size_t)64 << 20);
    buf_printf(&line, "trial %s %s", t->id, trial_state_name(t->state));
    if (t->final.given)
        buf_printf(&line, ": %.6g", t->final.value);
    else if (t->why[0] != '\0')
        buf_printf(&line, ": %s", t->why);
    else if (t->latest.given)
        buf_printf(&line, " at %.6g", t->latest.value);
    buf_printf(&line, " (%.1f s)", seconds);
    if (doc != NULL)
        parameters_flatten(json_root(doc), add_parameter, &line, NULL);
    json_free(doc);
    progress_say(&m->progress, "%s", buf_text(&line));
    buf_fini(&line);
}

/* What took less than another took is no better than that, whatever came of
 * it. */
static bool
is_better(const struct progress *p, double final, double budget)
{
    if (!p->has_best || budget > p->best_budget)
        return true;
    if (budget < p->best_budget)
        return false;
    return p->minimize ? final < p->best : final > p->best;
}

/* Whether it is better than all before. */
static bool
count_best(struct manager *m, const struct result *r, double value,
           const char *id)
{
    struct progress *p = &m->progress;

    m->n_results++;
    if (!isfinite(value) || !is_better(p, value, r->budget))
        return false;
    p->has_best = true;
    p->best = value;
    p->best_budget = r->budget;
    snprintf(p->best_trial, sizeof p->best_trial, "%s", id);
    return true;
}

bool
ending_counts(enum trial_state state)
{
    return !trial_is_failure(state) && state != TRIAL_CANCELLED &&
           state != TRIAL_PAUSED;
}

bool
ending_count(struct manager *m, const struct result *r, const char *id)
{
    enum trial_state state = trial_state_of(r->status);
    struct progress *p = &m->progress;
    double value;

    p->done++;
    if (state == TRIAL_PAUSED)
        p->set_aside++;
    else if (trial_is_failure(state))
        p->failed++;
    else if (state == TRIAL_CANCELLED)
        p->cancelled++;
    else if (state != TRIAL_SUCCEEDED)
        p->stopped++;
    return results_value(r, &value) && count_best(m, r, value, id);
}

void
ending_show_first(struct manager *m, const struct trial *t)
{
    if (m->progress.failed_once || t->folder == NULL)
        return;
    m->progress.failed_once = true;
    show_no_final(m, t);
    ending_show_stderr(m, t);
}

static void
show_interrupted(struct manager *m, const struct trial *t, double seconds)
{
    m->progress.interrupted++;
    m->progress.running = m->n_running;
    if (!m->progress.terminal)
        say_end(m, t, seconds);
    progress_touch(&m->progress);
}

static void
show_judged(struct manager *m, const struct trial *t, double seconds)
{
    char status[24];
    struct result r = {.status = status,
                       .has_value = t->final.given,
                       .value = t->final.value,
                       .has_latest = t->latest.given,
                       .latest = t->latest.value,
                       .steps = t->step + trial_reports(t),
                       .budget = t->budget};
    struct progress *p = &m->progress;

    snprintf(status, sizeof status, "%s", trial_state_name(t->state));
    p->running = m->n_running;
    if (ending_count(m, &r, t->id))
        publish_best(m, p->best, t->id);
    if (!p->terminal || trial_is_failure(t->state) ||
        t->state == TRIAL_TIMED_OUT)
        say_end(m, t, seconds);
    if (trial_is_failure(t->state))
        ending_show_first(m, t);
    progress_touch(p);
}

void
ending_show(void *ctx, const struct attempt_end *end)
{
    if (end->how == ATTEMPT_JUDGED && !end->trial->past.recorded)
        show_judged(ctx, end->trial, end->seconds);
    else if (end->how == ATTEMPT_LEFT && trial_began(end->trial))
        show_interrupted(ctx, end->trial, end->seconds);
}
