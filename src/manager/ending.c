/* SPDX-License-Identifier: MIT */
#include "manager/ending.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/visible.h"
#include "json.h"
#include "manager/delivery.h"
#include "manager/display.h"
#include "manager/exchange.h"
#include "manager/experiment_end.h"
#include "manager/experiment_folder.h"
#include "manager/goals.h"
#include "manager/live.h"
#include "manager/parameters.h"
#include "manager/progress.h"
#include "manager/publish.h"
#include "manager/results.h"
#include "manager/trial.h"
#include "trial/files.h"
#include "trial/stderr_tail.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAYLOAD_MAX ((size_t)64 << 20)
#define STDERR_LINES 20
#define KINDS_SHOWN 8 /* of failures, with their last lines */
#define SHOWN_MAX 200
#define HELD_PAUSE_NS ((int64_t)1000 * 1000000)

void
ending_send(void *ctx, const struct attempt_end *end)
{
    const struct trial *t = end->trial;
    struct ending *e = ctx;
    struct json_writer w;
    struct buf payload;

    if (end->how != ATTEMPT_JUDGED || t->past.end_told)
        return;
    buf_init(&payload, PAYLOAD_MAX);
    w = json_begin_object(&payload);
    json_add_text(&w, "trial_job_id", t->id);
    json_add_text(&w, "event", trial_event_name(t->state));
    json_add_string(&w, "hyper_params", t->record, t->record_len);
    json_add_unsigned(&w, "attempt", delivery_attempt(e->delivery, t));
    if (e->delivery->ops->acknowledged)
        json_add_bool(&w, "sync", true);
    json_close(&w);
    if (buf_check(&payload, "the end of a trial", NULL) == 0)
        exchange_send(e->exchange, "EN", payload.data, payload.len);
    if (e->delivery->ops->acknowledged &&
        trial_exited(t)) /* else it has no turn */
        lockstep_sent(&e->delivery->expected, &payload, e->exchange->last);
    buf_fini(&payload);
}

/* ---- recorded ---- */

/* Results were to be written, which went as rc and err tell: warns when they
 * begin or cease to be held in memory, and sets when that is tried again. */
static void
tell_of_held(struct ending *e, int rc, const struct err *err)
{
    bool holds = rc == 0 && e->folder->held.len > 0;

    if (rc != 0)
        experiment_ends(e->end, MANAGER_UNABLE, "%s", err->text);
    else if (holds && !e->holds)
        progress_warn(e->progress,
                      "tunepipe: warning: %s; the results are kept in memory "
                      "until it goes on",
                      err->text);
    else if (!holds && e->holds)
        progress_warn(e->progress,
                      "tunepipe: the results are written: it goes on");
    e->holds = holds;
    if (deadlines_set(e->deadlines, &e->due,
                      holds ? clock_monotonic_ns() + HELD_PAUSE_NS
                            : INT64_MAX) != 0)
        experiment_ends(e->end, MANAGER_UNABLE, "out of memory");
}

static void
write_held(void *ctx, void *of)
{
    struct ending *e = of;
    struct err err = {0};

    (void)ctx;
    tell_of_held(e, experiment_folder_flush(e->folder, &err), &err);
}

void
ending_record(void *ctx, const struct attempt_end *end)
{
    const struct trial *t = end->trial;
    struct ending *e = ctx;
    const char *by = trial_ended_by(t, e->has_assessor);
    struct err err = {0};
    int rc;

    if (end->how == ATTEMPT_LEFT && trial_began(t) &&
        experiment_folder_add_interrupted(e->folder, t, by, end->seconds,
                                          &err) != 0)
        progress_warn(e->progress, "tunepipe: warning: %s", err.text);
    if (end->how != ATTEMPT_JUDGED || t->past.recorded)
        return;
    rc = experiment_folder_add_result(e->folder, t, by, end->seconds, &err);
    syncing_appended(&e->syncing);
    e->due.due = write_held;
    e->due.of = e;
    if (rc != 0 || e->holds || e->folder->held.len > 0)
        tell_of_held(e, rc, &err);
}

/* ---- shown ---- */

static void
show_line(void *ctx, const char *text, size_t len)
{
    const struct ending *e = ctx;
    struct buf line;

    buf_init(&line, STDERR_TAIL_MAX);
    visible_text(&line, text, len, SHOWN_MAX);
    progress_say(e->progress, "    | %s", buf_text(&line));
    buf_fini(&line);
}

void
ending_show_stderr(struct ending *e, const struct trial *t)
{
    char *folder =
        t->folder != NULL ? stderr_tail_folder(t->folder, NULL) : NULL;
    char text[STDERR_TAIL_MAX];

    if (folder == NULL || access(folder, F_OK) != 0) {
        free(folder);
        return;
    }
    progress_say(e->progress,
                 stderr_tail_read(folder, NULL, text) > 0
                     ? "  the last lines of %s/" TRIAL_STDERR ":"
                     : "  its standard error is empty (%s/" TRIAL_STDERR ")",
                 folder);
    stderr_tail_lines(folder, NULL, STDERR_LINES, show_line, e);
    free(folder);
}

/* The value is no result, and is not to be taken for an exit status. */
static void
add_why(struct buf *line, const struct trial *t)
{
    buf_printf(line, ": %s", t->why);
    if (t->state != TRIAL_SUCCEEDED && (t->final.given || t->latest.given))
        buf_printf(line, " (last value %.6g)",
                   t->final.given ? t->final.value : t->latest.value);
}

/* Adds a number, and the values by name. */
static void
add_final(struct buf *line, const struct reported *final)
{
    struct json *doc =
        final->json == NULL
            ? NULL
            : json_parse(final->json, strlen(final->json), JSON_NAN, NULL);

    buf_add_text(line, ": ");
    if (doc == NULL)
        buf_printf(line, "%.6g", final->value);
    else
        display_values(line, json_root(doc));
    json_free(doc);
}

static void
say_end(struct ending *e, const struct trial *t, double seconds)
{
    struct json *doc =
        json_parse(t->parameters, strlen(t->parameters), JSON_STRICT, NULL);
    struct buf line;

    buf_init(&line, (size_t)64 << 20);
    buf_printf(&line, "trial %s %s", t->id, trial_state_name(t->state));
    if (t->why[0] != '\0')
        add_why(&line, t);
    else if (t->final.given)
        add_final(&line, &t->final);
    else if (t->latest.given)
        buf_printf(&line, " at %.6g", t->latest.value);
    buf_printf(&line, " (%.1f s)", seconds);
    if (doc != NULL)
        display_parameters(&line, json_root(doc), NULL, SHOWN_MAX);
    json_free(doc);
    progress_say(e->progress, "%s", buf_text(&line));
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
count_best(struct ending *e, const struct result *r, double value,
           const char *id)
{
    struct progress *p = e->progress;

    e->n_results++;
    if (!isfinite(value))
        return false;
    if (p->has_best &&
        (r->budget < p->best_budget || r->budget > p->best_budget))
        p->budgets_differ = true;
    if (!is_better(p, value, r->budget))
        return false;
    p->has_best = true;
    p->best = value;
    p->best_budget = r->budget;
    snprintf(p->best_trial, sizeof p->best_trial, "%s", id);
    return true;
}

/* With objectives: whether the trial is on the front. */
static bool
count_front(struct ending *e, const char *id)
{
    const struct pareto *front = &e->progress->goals->front;

    e->n_results++;
    e->progress->has_best = front->n > 0;
    return front->n > 0 && strcmp(front->points[front->n - 1].trial, id) == 0;
}

bool
ending_counts(enum trial_state state)
{
    return !trial_is_failure(state) && state != TRIAL_CANCELLED &&
           state != TRIAL_PAUSED;
}

bool
ending_count(struct ending *e, const struct result *r, const char *id)
{
    enum trial_state state = trial_state_of(r->status);
    struct progress *p = e->progress;
    double value;

    p->done++;
    if (state == TRIAL_PAUSED)
        p->set_aside++;
    else if (trial_is_failure(state))
        p->failed++;
    else if (state == TRIAL_TIMED_OUT)
        p->timed_out++;
    else if (state == TRIAL_CANCELLED)
        p->cancelled++;
    else if (state != TRIAL_SUCCEEDED)
        p->stopped++;
    if (p->goals != NULL) /* they heard of it before */
        return results_value(r, &value) && count_front(e, id);
    return results_value(r, &value) && count_best(e, r, value, id);
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static const char *
skip_number(const char *p)
{
    while (is_digit(*p) || is_letter(*p) || *p == '.' ||
           ((*p == '-' || *p == '+') && (p[-1] == 'e' || p[-1] == 'E') &&
            is_digit(p[1])))
        p++;
    return p;
}

/* Puts a mark in place of each number, with its sign, point and exponent, be it
 * decimal or hexadecimal: messages quote values, addresses and the trial's
 * folder, which no two trials share.  Digits behind a letter belong to a name.
 */
static void
mask_numbers(char *text)
{
    const char *from = text;
    char *to = text;
    bool in_name = false;

    while (*from != '\0') {
        const char *digit = from + (*from == '-' || *from == '+');

        if (!in_name && is_digit(*digit)) {
            from = skip_number(digit);
            *to++ = '#';
        } else {
            in_name = is_letter(*from) || (in_name && is_digit(*from));
            *to++ = *from++;
        }
    }
    *to = '\0';
}

void
ending_how(const struct trial *t, char text[ENDING_HOW_MAX])
{
    char *folder =
        t->folder != NULL ? stderr_tail_folder(t->folder, NULL) : NULL;
    char line[400] = "";
    int len;

    if (folder != NULL)
        stderr_tail_line(folder, NULL, line, sizeof line);
    free(folder);
    len = snprintf(text, ENDING_HOW_MAX, "%d %d\n", (int)t->outcome.kind,
                   t->outcome.number); /* an exit status is no such number */
    snprintf(text + len, (size_t)(ENDING_HOW_MAX - len), "%s\n%s", t->why,
             line);
    mask_numbers(text + len);
}

/* What cannot be remembered is shown once more. */
void
ending_show_failure(struct ending *e, const struct trial *t)
{
    char how[ENDING_HOW_MAX];
    struct buf missed;

    ending_how(t, how);
    if (t->folder == NULL || e->shown.count > KINDS_SHOWN ||
        map_get(&e->shown, how, strlen(how)) != NULL)
        return;
    map_put(&e->shown, how, strlen(how), e);
    if (e->shown.count > KINDS_SHOWN) {
        progress_say(e->progress,
                     "  they fail in many ways: of further ones tunepipe why "
                     "TRIAL tells the last lines");
        return;
    }
    buf_init(&missed, STDERR_TAIL_MAX);
    if (trial_explain_no_final(&missed, t->why, e->has_pattern, t->latest.given,
                               t->folder))
        progress_say(e->progress, "  %s", buf_text(&missed));
    buf_fini(&missed);
    ending_show_stderr(e, t);
}

static void
show_interrupted(struct ending *e, const struct trial *t, double seconds)
{
    e->progress->interrupted++;
    e->progress->running = e->live->running;
    if (!e->progress->terminal)
        say_end(e, t, seconds);
    progress_touch(e->progress);
}

static void
show_judged(struct ending *e, const struct trial *t, double seconds)
{
    struct result r = results_of_trial(t);
    struct progress *p = e->progress;

    p->running = e->live->running;
    if (ending_count(e, &r, t->id))
        publish_best(e->publish, &t->final, t->id);
    if (!(p->terminal || e->brief) || trial_is_failure(t->state) ||
        t->state == TRIAL_TIMED_OUT)
        say_end(e, t, seconds);
    if (trial_is_failure(t->state))
        ending_show_failure(e, t);
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
