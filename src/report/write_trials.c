/* SPDX-License-Identifier: MIT */
#include "report/write.h"

#include "core/buf.h"
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts that come often are numbered ---- */

struct words {
    struct columns all;
    struct map numbers; /* -> index, from 1 */
};

/* REPORT_NONE: there is no text, or no memory. */
static size_t
number_of(struct words *w, const char *text)
{
    uintptr_t i;

    if (text == NULL || text[0] == '\0')
        return REPORT_NONE;
    i = (uintptr_t)map_get(&w->numbers, text, strlen(text));
    if (i != 0)
        return i - 1;
    if (columns_add(&w->all, text, NULL) != 0 ||
        map_put(&w->numbers, text, strlen(text), (void *)(uintptr_t)w->all.n) !=
            0)
        return REPORT_NONE;
    return w->all.n - 1;
}

static void
write_words(struct json_writer *w, const struct report *r, const char *key,
            const char *words_key, size_t member)
{
    struct json_writer list = write_list(w, key);
    struct words words = {0};

    for (size_t i = 0; i < r->n_trials; i++) {
        const char *const *text =
            (const void *)((const char *)&r->trials[i] + member);
        size_t number = number_of(&words, *text);

        json_add_unsigned_if(&list, NULL, number != REPORT_NONE, number);
    }
    json_close(&list);
    write_names(w, words_key, &words.all);
    map_fini(&words.numbers);
    columns_fini(&words.all);
}

/* ---- columns ---- */

typedef void write_one(struct buf *out, const struct report *r,
                       const struct report_trial *t);

static void
write_id(struct buf *out, const struct report *r, const struct report_trial *t)
{
    (void)r;
    json_write_text(out, t->id);
}

static void
write_parameter_id(struct buf *out, const struct report *r,
                   const struct report_trial *t)
{
    (void)r;
    buf_add_text(out, t->parameter_id == NULL ? "null" : t->parameter_id);
}

static void
write_number_if(struct buf *out, bool there, double value)
{
    if (there)
        write_value(out, value);
    else
        buf_add_text(out, "null");
}

static void
write_final(struct buf *out, const struct report *r,
            const struct report_trial *t)
{
    (void)r;
    write_number_if(out, t->has_value, t->value);
}

static void
write_latest(struct buf *out, const struct report *r,
             const struct report_trial *t)
{
    (void)r;
    write_number_if(out, t->has_latest, t->latest);
}

static void
write_counts(struct buf *out, const struct report *r,
             const struct report_trial *t)
{
    (void)r;
    buf_add_char(out, t->counts ? '1' : '0');
}

static void
write_budget(struct buf *out, const struct report *r,
             const struct report_trial *t)
{
    (void)r;
    write_number_if(out, !isnan(t->budget), t->budget);
}

static void
write_from(struct buf *out, const struct report *r,
           const struct report_trial *t)
{
    (void)r;
    if (t->from == REPORT_NONE)
        buf_add_text(out, "null");
    else
        buf_printf(out, "%zu", t->from);
}

static void
write_cloned(struct buf *out, const struct report *r,
             const struct report_trial *t)
{
    (void)r;
    buf_add_char(out, t->cloned ? '1' : '0');
}

static void
write_started(struct buf *out, const struct report *r,
              const struct report_trial *t)
{
    write_moment(out, r, t->started_us);
}

static void
write_ended(struct buf *out, const struct report *r,
            const struct report_trial *t)
{
    write_moment(out, r, t->ended_us);
}

static void
write_duration(struct buf *out, const struct report *r,
               const struct report_trial *t)
{
    (void)r;
    write_number_if(out, !isnan(t->duration_s), t->duration_s);
}

static void
write_reports(struct buf *out, const struct report *r,
              const struct report_trial *t)
{
    (void)r;
    buf_printf(out, "%" PRIu64, t->reports);
}

/* None was begun where the log tells of the end alone, and is whole. */
static void
write_attempts(struct buf *out, const struct report *r,
               const struct report_trial *t)
{
    if (t->attempts == 0 && (t->ended_us == 0 || r->lacks))
        buf_add_text(out, "null");
    else
        buf_printf(out, "%" PRIu64, t->attempts);
}

static void
write_base(struct buf *out, const struct report *r,
           const struct report_trial *t)
{
    (void)r;
    buf_printf(out, "%" PRIu64, t->base);
}

static const struct {
    const char *key;
    write_one *write;
} columns[] = {
    {"id", write_id},
    {"parameter_id", write_parameter_id},
    {"value", write_final},
    {"latest", write_latest},
    {"counts", write_counts},
    {"budget", write_budget},
    {"from", write_from},
    {"cloned", write_cloned},
    {"started", write_started},
    {"ended", write_ended},
    {"duration", write_duration},
    {"reports", write_reports},
    {"attempts", write_attempts},
    {"base", write_base},
};
#define N_COLUMNS (sizeof columns / sizeof *columns)

void
write_trials(struct json_writer *all, const struct report *r)
{
    struct json_writer w = write_object(all, "trials"), list;

    buf_add_char(w.out, '\n');
    json_separate(&w, ",\n", ":");
    write_words(&w, r, "status", "statuses",
                offsetof(struct report_trial, status));
    write_words(&w, r, "why", "whys", offsetof(struct report_trial, why));
    write_words(&w, r, "ended_by", "enders",
                offsetof(struct report_trial, ended_by));
    for (size_t c = 0; c < N_COLUMNS; c++) {
        list = write_list(&w, columns[c].key);
        for (size_t i = 0; i < r->n_trials; i++)
            columns[c].write(json_value(&list, NULL), r, &r->trials[i]);
        json_close(&list);
    }
    json_close(&w);
}
