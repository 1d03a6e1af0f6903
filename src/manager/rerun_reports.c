/* SPDX-License-Identifier: MIT */
#include "manager/rerun_reports.h"

#include "core/buf.h"
#include "core/file.h"
#include "manager/metrics.h"
#include "manager/rerun.h"
#include "manager/trial.h"
#include "trial/files.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define VALUE_MAX ((size_t)64 << 20)

/* As everywhere the first final result counts, the last of the others, and
 * nothing behind the word that it is done. */
static void
take(struct rerun_reports *r, const struct metric_line *metric)
{
    struct rerun_outcome *out = r->out;

    if (out->done)
        return;
    if (metric->final && !out->has_final)
        out->final = metric->value;
    if (!metric->final)
        out->latest = metric->value;
    out->has_final = out->has_final || metric->final;
    out->has_latest = out->has_latest || !metric->final;
    out->done = metric->done;
}

static void
take_line(void *ctx, const char *line, size_t len, bool too_long)
{
    struct metric_line metric;
    struct rerun_reports *r = ctx;

    if (metrics_line(&r->metrics, line, len, too_long, &metric, NULL) ==
            METRICS_METRIC &&
        (metric.final || r->pattern == NULL))
        take(r, &metric);
}

static void
take_record(void *ctx, const char *json, size_t len, int64_t at)
{
    struct metric_line metric;
    struct rerun_reports *r = ctx;
    struct buf value;

    (void)at;
    buf_init(&value, VALUE_MAX);
    if (metrics_nni(&r->metrics, json, len, &value, &metric, NULL) ==
            METRICS_METRIC &&
        (metric.final || r->pattern == NULL))
        take(r, &metric);
    buf_fini(&value);
}

static void
take_output(void *ctx, const char *line, size_t len, bool too_long)
{
    struct metric_line metric = {0};
    struct rerun_reports *r = ctx;

    (void)too_long;
    if (memchr(line, '\0', len) == NULL &&
        pattern_match(r->pattern, line, &metric.value))
        take(r, &metric);
}

void
rerun_reports_open(struct rerun_reports *r, const char *folder)
{
    char *path = file_join(folder, TRIAL_METRICS);

    r->watch_fd = path == NULL ? -1 : inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (r->watch_fd >= 0 && inotify_add_watch(r->watch_fd, path, IN_MODIFY) < 0)
        rerun_reports_close(r);
    free(path);
}

void
rerun_reports_close(struct rerun_reports *r)
{
    if (r->watch_fd >= 0)
        close(r->watch_fd);
    r->watch_fd = -1;
}

bool
rerun_reports_look(struct rerun_reports *r, struct trial *t)
{
    char events[sizeof(struct inotify_event) + NAME_MAX + 1];
    bool was_done = r->out->done;

    while (read(r->watch_fd, events, sizeof events) > 0)
        continue;
    tail_read(&t->report, SIZE_MAX, take_line, r, NULL);
    return r->out->done && !was_done;
}

void
rerun_reports_end(struct rerun_reports *r, struct trial *t, bool last_is_final)
{
    struct rerun_outcome *out = r->out;
    const struct outcome *o = &out->outcome;

    tail_drain(&t->report, SIZE_MAX, take_line, r, NULL);
    nnifile_drain(&t->nni, SIZE_MAX, take_record, r, NULL);
    if (r->pattern != NULL) {
        tail_drain(&t->out, SIZE_MAX, take_output, r, NULL);
        tail_rest(&t->out, take_output, r);
    }
    if (last_is_final && !out->has_final && out->has_latest &&
        o->kind == OUTCOME_EXITED && o->number == 0) {
        out->has_final = true;
        out->final = out->latest;
    }
}
