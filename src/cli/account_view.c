/* SPDX-License-Identifier: MIT */
#include "cli/account_view.h"

#include "core/buf.h"
#include "core/visible.h"
#include "manager/display.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 200
#define VALUE_COLUMN 12
#define TRENDS 8 /* different marks of a trend, by height */

static unsigned long long
count_of(struct jval object, const char *key)
{
    uint64_t n = 0;
    struct jval v;

    if (jval_get(object, key, &v))
        jval_uint(v, &n);
    return n;
}

static void
add_shown(struct buf *out, const char *text)
{
    visible_text(out, text, strlen(text), TEXT_MAX);
}

static void
add_time(struct buf *out, double seconds)
{
    long long s = seconds > 0 && seconds < 1e15 ? (long long)seconds : 0;

    if (s >= 3600)
        buf_printf(out, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    else
        buf_printf(out, "%02lld:%02lld", s / 60, s % 60);
}

static void
add_counts(struct buf *out, struct jval a)
{
    static const struct {
        const char *key, *words;
    } more[] = {{"queued", "queued"},       {"waiting", "waiting"},
                {"failed", "failed"},       {"stopped", "stopped"},
                {"timed_out", "timed out"}, {"cancelled", "cancelled"},
                {"paused", "paused"},       {"interrupted", "interrupted"},
                {"unended", "unended"}};

    buf_printf(out, "%llu", count_of(a, "done"));
    if (count_of(a, "max_trials") > 0)
        buf_printf(out, "/%llu", count_of(a, "max_trials"));
    buf_printf(out, " done, %llu running",
               count_of(a, "running") - count_of(a, "queued"));
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (count_of(a, more[i].key) > 0)
            buf_printf(out, ", %llu %s", count_of(a, more[i].key),
                       more[i].words);
}

/* Adds how large the front is, its knee, and its hypervolume. */
static void
add_front(struct buf *out, struct jval a, struct jval front)
{
    bool knee = false;
    double volume = 0;
    struct jval v;

    buf_printf(out, "front of %llu", count_of(a, "front"));
    for (size_t i = 0; i < jval_count(front) && !knee; i++)
        if (jval_get(jval_at(front, i), "knee", &v) && jval_bool(v, &knee) &&
            knee) {
            buf_add_text(out, ", knee trial ");
            add_shown(out, jval_text_of(jval_at(front, i), "trial"));
        }
    if (!jval_get(a, "hypervolume", &v))
        return;
    if (jval_number(v, &volume))
        buf_printf(out, ", hypervolume %.6g", volume);
    else
        buf_add_text(out, ", hypervolume not computed of so many");
    if (volume > 0)
        buf_printf(out, ", grew %llu result%s ago", count_of(a, "since"),
                   count_of(a, "since") == 1 ? "" : "s");
}

static void
add_best(struct buf *out, struct jval a)
{
    struct jval best;
    double budget;

    if (jval_get(a, "best", &best) && jval_type(best) == JSON_ARRAY &&
        jval_count(best) > 0) {
        add_front(out, a, best);
        return;
    }
    if (!jval_get(a, "best", &best) || jval_type(best) != JSON_OBJECT) {
        buf_add_text(out, "none yet");
        return;
    }
    buf_printf(out, "%.6g (trial ", jval_number_of(best, "value"));
    add_shown(out, jval_text_of(best, "trial"));
    budget = jval_number_of(best, "budget");
    if (budget > 0)
        buf_printf(out, " of those with budget %.4g", budget);
    buf_add_char(out, ')');
}

/* Whether there are objectives. */
static bool
is_several(struct jval a)
{
    struct jval best;

    return jval_get(a, "best", &best) && jval_type(best) == JSON_ARRAY;
}

static bool
is_in_state(struct jval a, const char *state)
{
    return strcmp(jval_text_of(a, "state"), state) == 0;
}

static bool
goes_on(struct jval a)
{
    return !is_in_state(a, "ended") && !is_in_state(a, "died") &&
           !is_in_state(a, "forked") && !is_in_state(a, "queued");
}

/* The verb that goes on with an experiment that is whole; NULL: none. */
static const char *
verb_to_go_on(struct jval a)
{
    if (is_in_state(a, "paused"))
        return "continue";
    return is_in_state(a, "forked") ? "resume" : NULL;
}

static void
add_elapsed(struct buf *out, const struct account_view *v)
{
    double limit = jval_number_of(v->account, "max_duration_s");

    add_time(out, jval_number_of(v->account, "elapsed_s") +
                      (goes_on(v->account) ? v->since_s : 0));
    if (limit > 0) {
        buf_add_text(out, " of ");
        add_time(out, limit);
    }
}

static void
add_left_out(struct buf *out, struct jval a)
{
    struct jval list;

    if (!jval_get(a, "left_out", &list))
        return;
    for (size_t i = 0; i < jval_count(list); i++) {
        const char *machine = jval_text_of(jval_at(list, i), "machine");

        buf_add_text(out, "left out    ");
        add_shown(out, machine);
        buf_add_text(out, " (");
        add_shown(out, jval_text_of(jval_at(list, i), "why"));
        buf_add_text(out, "); tunepipe machine retry ");
        add_shown(out, machine);
        buf_add_char(out, '\n');
    }
}

void
account_view_head(const struct account_view *v, struct buf *out)
{
    struct jval a = v->account;
    const char *verb = verb_to_go_on(a);

    buf_add_text(out, "experiment  ");
    add_shown(out, jval_text_of(a, "experiment"));
    buf_add_text(out, "\nstate       ");
    add_shown(out, jval_text_of(a, "state"));
    if (jval_text_of(a, "reason")[0] != '\0') {
        buf_add_text(out, ": ");
        add_shown(out, jval_text_of(a, "reason"));
    }
    if (verb != NULL) {
        buf_printf(out, "\ngo on       tunepipe %s ", verb);
        visible_text(out, jval_text_of(a, "folder"),
                     strlen(jval_text_of(a, "folder")), SIZE_MAX);
    }
    buf_add_text(out, "\ntrials      ");
    add_counts(out, a);
    if (count_of(a, "concurrency") > 0 && goes_on(a))
        buf_printf(out, "; %llu at a time", count_of(a, "concurrency"));
    buf_add_text(out, "\nbest        ");
    add_best(out, a);
    if (!is_several(a)) {
        buf_add_text(out, ", ");
        add_shown(out, jval_text_of(a, "optimize_mode"));
    }
    buf_add_text(out, "\ntime        ");
    add_elapsed(out, v);
    buf_add_char(out, '\n');
    add_left_out(out, a);
}

void
account_view_line(const struct account_view *v, bool time, struct buf *out)
{
    add_shown(out, jval_text_of(v->account, "state"));
    buf_add_text(out, " | ");
    add_counts(out, v->account);
    buf_add_text(out, " | best ");
    add_best(out, v->account);
    if (time) {
        buf_add_text(out, " | ");
        add_elapsed(out, v);
    }
}

/* ---- trials ---- */

static void
add_mark(struct buf *out, unsigned height, bool blocks)
{
    static const char plain[TRENDS + 1] = "_.-:=+*#";

    if (blocks)
        buf_printf(out, "\xe2\x96%c", (char)(0x81 + height));
    else
        buf_add_char(out, plain[height]);
}

/* Appends a mark for each value, by its height between the least and the
 * greatest one; padded to `width`. */
static void
add_trend(struct buf *out, struct jval values, size_t width, bool blocks)
{
    double least = INFINITY, most = -INFINITY, x;
    size_t n = jval_count(values), shown = 0;

    for (size_t i = 0; i < n; i++)
        if (jval_number(jval_at(values, i), &x)) {
            least = fmin(least, x);
            most = fmax(most, x);
        }
    for (size_t i = n > width ? n - width : 0; i < n; i++, shown++) {
        if (!jval_number(jval_at(values, i), &x))
            buf_add_char(out, '?');
        else
            add_mark(out,
                     most > least ? (unsigned)((x - least) / (most - least) *
                                               (TRENDS - 1))
                                  : TRENDS / 2,
                     blocks);
    }
    for (; shown < width; shown++)
        buf_add_char(out, ' ');
}

static void
add_parameters(struct buf *out, struct jval trial)
{
    struct jval parameters;
    struct buf text;

    buf_init(&text, (size_t)64 << 20);
    if (jval_get(trial, "parameters", &parameters))
        display_parameters(&text, parameters, NULL, DISPLAY_PARAMETERS_MAX);
    buf_add_text(out, buf_text(&text));
    buf_fini(&text);
}

static void
add_trial(const struct account_view *v, struct jval trial, struct buf *out)
{
    const char *status = jval_text_of(trial, "status");
    double latest = jval_number_of(trial, "latest");
    char cell[40], id[40], state[24];
    struct jval recent;
    size_t from = out->len;

    snprintf(id, sizeof id, "%.10s", jval_text_of(trial, "trial"));
    if (count_of(trial, "attempt") > 0)
        snprintf(id, sizeof id, "%.10s.%llu", jval_text_of(trial, "trial"),
                 count_of(trial, "attempt"));
    visible_line(id);
    snprintf(state, sizeof state, "%.16s", status);
    visible_line(state);
    snprintf(cell, sizeof cell, isnan(latest) ? "-" : "%.6g", latest);
    buf_printf(out, "%-8.16s %-10.16s %*s ", id, state, VALUE_COLUMN, cell);
    if (jval_get(trial, "recent", &recent))
        add_trend(out, recent, 12, v->blocks);
    buf_printf(out, " %7llu ", count_of(trial, "reports"));
    from = out->len;
    if (strcmp(status, "waiting") == 0)
        buf_add_char(out, '-');
    else
        add_time(out, jval_number_of(trial, "elapsed_s") + v->since_s);
    while (out->len < from + 8 && !out->failed)
        buf_add_char(out, ' ');
    buf_add_char(out, ' ');
    if (jval_text_of(trial, "place")[0] != '\0') {
        visible_text(out, jval_text_of(trial, "place"),
                     strlen(jval_text_of(trial, "place")), 60);
        buf_printf(out, " (queued %.0f s)  ",
                   jval_number_of(trial, "queued_s"));
    }
    add_parameters(out, trial);
    buf_add_char(out, '\n');
}

/* What the values of the trials are: of several objectives the first. */
static void
add_value_title(struct buf *out, const char *objective)
{
    struct buf title;

    buf_init(&title, VALUE_COLUMN + 1);
    if (objective[0] != '\0' && strcmp(objective, "default") != 0)
        visible_text(&title, objective, strlen(objective), VALUE_COLUMN);
    else
        buf_add_text(&title, "LATEST");
    buf_printf(out, "%*s", VALUE_COLUMN, buf_text(&title));
    buf_fini(&title);
}

void
account_view_trials(const struct account_view *v, struct buf *out)
{
    unsigned long long live =
        count_of(v->account, "running") + count_of(v->account, "waiting");
    struct jval trials;
    size_t n;

    if (!jval_get(v->account, "trials", &trials))
        return;
    n = jval_count(trials);
    if (n > 0) {
        buf_printf(out, "\n%-8s %-10s ", "TRIAL", "STATUS");
        add_value_title(out, jval_text_of(v->account, "objective"));
        buf_printf(out, " %-12s %7s %-8s %s\n", "TREND", "REPORTS", "TIME",
                   "PARAMETERS");
    }
    for (size_t i = 0; i < n; i++)
        add_trial(v, jval_at(trials, i), out);
    if (n > 0 && live > n)
        buf_printf(out, "... and %llu more\n", live - (unsigned long long)n);
}
