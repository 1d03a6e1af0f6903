/* SPDX-License-Identifier: MIT */
/* DESIGN.  A trial's files are read when inotify says that they grew, and read
 * to their ends when the wrapper is gone, so that all results are used before
 * the end is declared.  While the dispatcher is slow (more than PENDING_MAX
 * bytes wait for it) files are left alone: they are the buffer, also behind
 * the end of the trial, whatever it has left there. */
#include "manager/reading.h"

#include "config/experiment.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "manager/absent.h"
#include "manager/checkpoints.h"
#include "manager/delivery.h"
#include "manager/exchange.h"
#include "manager/live.h"
#include "manager/metrics.h"
#include "manager/progress.h"
#include "manager/publish.h"
#include "manager/stopping.h"
#include "manager/trial.h"
#include "manager/trial_folder.h"
#include "runner/runner.h"
#include "trial/files.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define PENDING_MAX ((size_t)1 << 20)
#define PAYLOAD_MAX ((size_t)64 << 20)

struct trial_files {
    struct reading *reading;
    struct trial *t;
};

static bool
counts(const struct reading *r, const struct trial *t,
       const struct metric_line *metric)
{
    if (t->done || (t->stop == STOP_INTERRUPT && r->delivery->ops->repeats))
        return false;
    return trial_undecided(t) || (metric->final && trial_stops_well(t)) ||
           metric->sequence <
               (metric->final ? t->counted.finals : t->counted.intermediates);
}

/* How long after the one before it is read; in lock step that would tell of
 * other trials. */
static void
stamp(const struct reading *r, struct trial *t, struct metric_line *metric)
{
    int64_t now = clock_monotonic_ns();

    t->reported_ns = now;
    if (r->delivery->ops->timeless || t->stamped_ns == 0)
        return;
    metric->elapsed_ns = now - t->stamped_ns;
    t->stamped_ns = now;
}

/* It stands in the trial's folder, and is not used. */
static void
take_late(struct reading *r, struct trial *t, const struct metric_line *metric)
{
    unanswered_answer_line(&t->unanswered, metric, trial_answer(t));
    r->late++;
    if (!metric->final)
        stopping_defied(r->stopping, t);
}

static void
take_metric(struct reading *r, struct trial *t, struct metric_line *metric)
{
    stamp(r, t, metric);
    if (metric->sequence == 0)
        absent_look(r->absent, t); /* it has its parameters by then */
    if (!metric->final)
        t->read = (struct reported){true, metric->value, NULL};
    if (!counts(r, t, metric))
        take_late(r, t, metric);
    else
        (t->past.end_told ? &delivery_at_once : r->delivery->ops)
            ->take(r->delivery, t, metric);
    if (metric->done && counts(r, t, metric))
        stopping_done(r->stopping, t);
}

/* Each kind of trouble with a file once. */
static void
complain(struct reading *r, struct trial *t, enum trial_complaint complaint,
         const char *file, const char *what)
{
    if ((t->complaints & complaint) == 0)
        progress_warn(r->progress,
                      "tunepipe: warning: trial %s: %s: %s (reported once; "
                      "what is bad is skipped)",
                      t->id, file, what);
    t->complaints |= complaint;
}

static void
complain_lines(struct reading *r, struct trial *t, const char *what)
{
    complain(r, t, COMPLAINED_OF_METRICS, TRIAL_METRICS, what);
}

static void
complain_records(struct reading *r, struct trial *t, const char *what)
{
    complain(r, t, COMPLAINED_OF_RECORDS, TRIAL_NNI_METRICS, what);
}

#define PATTERN_IS_SET                                                \
    "metrics.pattern is set: intermediate results that come another " \
    "way are not used"

static void take_output(void *ctx, const char *line, size_t len, bool too_long);
static bool read_nni(struct trial_files *f, bool drain);
static void find_files(struct reading *r, struct trial *t);

/* What it had reported by then may stand in other files than this one. */
static void
take_checkpoint(struct trial_files *f, uint64_t number)
{
    struct reading *r = f->reading;
    struct trial *t = f->t;

    if (r->delivery->ops->immediate)
        find_files(r, t);
    if (r->delivery->ops->immediate && r->patterns != NULL && t->out.fd >= 0)
        tail_read(&t->out, r->delivery->ops->portion, take_output, f, NULL);
    if (r->delivery->ops->immediate)
        read_nni(f, false);
    if (checkpoints_saved(r->checkpoints, t, number,
                          reading_count(r, t).intermediates))
        progress_warn(r->progress,
                      "tunepipe: warning: checkpoints take up %llu bytes, more "
                      "than checkpoints.quota, and running trials may need "
                      "each of them",
                      (unsigned long long)r->checkpoints->bytes);
}

/* Whether trials wait for answers shows by what they do.  Those that do not
 * have no place for them; one that would wait and found none has it from its
 * next report on, and so have others. */
static void
learn(struct reading *r, struct trial *t, struct metric_line *metric)
{
    struct unanswered *u = &t->unanswered;
    bool found = u->fd >= 0;

    if (metric->final || u->hear != NULL || r->needs->lockstep)
        return;
    if (metric->waits)
        r->needs->waited = true;
    if (metric->waits && !found) {
        metric->waits = metric->hears = false;
        unanswered_make(u, t->folder, r->needs->elsewhere, NULL);
    } else if (found && !r->needs->waited) {
        r->needs->unwaited = true;
        unanswered_remove(u, t->folder);
    }
}

/* The first one counts, as of those that lack nothing. */
static void
note_lack(struct trial *t, const char *what)
{
    if (t->lacks == NULL && !t->final.given)
        t->lacks = strdup(what);
}

static void
take_report(void *ctx, const char *line, size_t len, bool too_long)
{
    struct trial_files *f = ctx;
    struct metric_line metric;
    struct err err = {0};

    enum metrics_word word;

    word = metrics_line(&f->t->metrics, f->reading->x->objectives, line, len,
                        too_long, &metric, &err);
    if (word == METRICS_CHECKPOINT) {
        take_checkpoint(f, metric.sequence);
        return;
    }
    if (word == METRICS_REFUSED) {
        f->t->complaints |= REFUSED_A_FINAL;
        return;
    }
    if (word == METRICS_METRIC)
        learn(f->reading, f->t, &metric);
    metric.sync = metric.waits;
    metric.end =
        f->t->report.fd >= 0 ? f->t->report.at : (int64_t)metric.sequence;
    if (word == METRICS_METRIC &&
        (f->reading->patterns == NULL || metric.final)) {
        take_metric(f->reading, f->t, &metric);
        return;
    }
    if (word == METRICS_LACKS)
        note_lack(f->t, err.text);
    complain_lines(f->reading, f->t,
                   word == METRICS_METRIC ? PATTERN_IS_SET : err.text);
    unanswered_answer_line(&f->t->unanswered, &metric, trial_answer(f->t));
}

void
reading_line(struct reading *r, struct trial *t, const char *line, size_t len)
{
    take_report(&(struct trial_files){r, t}, line, len, false);
}

static void
take_record(void *ctx, const char *json, size_t len, int64_t at)
{
    struct trial_files *f = ctx;
    struct metric_line metric;
    enum metrics_word word;
    struct err err = {0};
    struct buf value;

    buf_init(&value, PAYLOAD_MAX);
    word = metrics_nni(&f->t->metrics, f->reading->x->objectives, json, len,
                       &value, &metric, &err);
    if (word == METRICS_LACKS)
        note_lack(f->t, err.text);
    if (word != METRICS_METRIC) {
        err_place(&err, "record at byte %lld", (long long)at);
        complain_records(f->reading, f->t, err.text);
    } else if (f->reading->patterns != NULL && !metric.final) {
        complain_records(f->reading, f->t, PATTERN_IS_SET);
    } else {
        take_metric(f->reading, f->t, &metric);
    }
    buf_fini(&value);
}

/* A line with NULs is not used; who would take it for a report is told. */
static void
refuse_output(const struct trial_files *f, const char *line, size_t len)
{
    char *text = malloc(len + 1);
    struct err err = {0};

    for (size_t i = 0; text != NULL && i < len; i++)
        text[i] = (char)(line[i] == '\0' ? ' ' : line[i]);
    if (text != NULL)
        text[len] = '\0';
    if (text != NULL && patterns_match(f->reading->patterns, text)) {
        metrics_refuse_nul(line, len, &err);
        err_place(&err, "line %llu", (unsigned long long)f->t->out.lines);
        complain(f->reading, f->t, COMPLAINED_OF_STDOUT, TRIAL_STDOUT,
                 err.text);
    }
    free(text);
}

static void
take_output(void *ctx, const char *line, size_t len, bool too_long)
{
    struct metric_line metric = {0};
    struct trial_files *f = ctx;
    struct buf json;

    (void)too_long;
    if (memchr(line, '\0', len) != NULL) {
        refuse_output(f, line, len);
        return;
    }
    if (f->t->found == NULL)
        f->t->found = calloc(1, sizeof *f->t->found);
    buf_init(&json, PAYLOAD_MAX);
    if (f->t->found != NULL && patterns_take(f->reading->patterns, f->t->found,
                                             line, &json, &metric.value)) {
        metric.sequence = f->t->matches++;
        metric.json = buf_text(&json);
        metric.len = json.len;
        take_metric(f->reading, f->t, &metric);
    }
    buf_fini(&json);
}

/* Whether there may be more in NNI's file. */
static bool
read_nni(struct trial_files *f, bool drain)
{
    struct nnifile *nni = &f->t->nni;
    struct err err = {0};
    int more;

    if (nni->fd < 0)
        return false;
    more = drain ? nnifile_drain(nni, f->reading->delivery->ops->portion,
                                 take_record, f, &err)
                 : nnifile_read(nni, f->reading->delivery->ops->portion,
                                take_record, f, &err);
    if (more == 0 && drain)
        more = nnifile_rest(nni, &err);
    if (more < 0)
        complain(f->reading, f->t, COMPLAINED_OF_NNI_END, TRIAL_NNI_METRICS,
                 err.text);
    return more > 0;
}

bool
reading_waits(const struct reading *r, const struct trial *t)
{
    return t->unanswered.first != NULL || unsent_has_reports(&t->unsent) ||
           exchange_pending(r->exchange) > PENDING_MAX;
}

void
reading_feed(struct reading *r, struct trial *t)
{
    struct trial_files f = {r, t};
    struct err err = {0};
    int more = 0;

    if (unsent_has_reports(&t->unsent))
        return; /* its turn comes first */
    if (exchange_pending(r->exchange) > PENDING_MAX) {
        unread_add(r, t);
        return;
    }
    if (t->report.fd < 0)
        find_files(r, t);
    if (t->report.fd >= 0)
        more |= tail_read(&t->report, r->delivery->ops->portion, take_report,
                          &f, &err);
    if (t->out.fd >= 0 && r->patterns != NULL)
        more |= tail_read(&t->out, r->delivery->ops->portion, take_output, &f,
                          &err);
    if (more < 0)
        complain_lines(r, t, err.text);
    if (read_nni(&f, false) || more > 0)
        unread_add(r, t);
}

bool
reading_drain(struct reading *r, struct trial *t)
{
    struct trial_files f = {r, t};
    struct err err = {0};
    int report = 0, out = 0;
    bool outputs;

    if (t->stop == STOP_NOT && exchange_pending(r->exchange) > PENDING_MAX) {
        unread_add(r, t);
        return false;
    }
    find_files(r, t);
    outputs = t->out.fd >= 0 && r->patterns != NULL;
    if (t->report.fd >= 0)
        report = tail_drain(&t->report, r->delivery->ops->portion, take_report,
                            &f, &err);
    if (outputs)
        out = tail_drain(&t->out, r->delivery->ops->portion, take_output, &f,
                         &err);
    if (report < 0 || out < 0)
        complain_lines(r, t, err.text);
    if (read_nni(&f, true) || report > 0 || out > 0) {
        unread_add(r, t);
        return false;
    }
    if (outputs)
        tail_rest(&t->out, take_output, &f);
    return true;
}

/* NNI's API has made its folder in the trial's, and looks for its files next.
 */
static void
serve_nni(struct reading *r, struct trial *t)
{
    struct err err = {0};

    if (t->nni.fd >= 0)
        return;
    r->needs->nni = true;
    if (trial_folder_make_nni(t, &err) != 0)
        complain_records(r, t, err.text);
}

/* A file has appeared in the folder of a trial, or grown. */
static void
take_event(struct reading *r, struct trial *t, const struct inotify_event *e)
{
    if (e->len > 0 && strcmp(e->name, TRIAL_NNI_FOLDER) == 0)
        serve_nni(r, t);
    if (e->len > 0)
        find_files(r, t);
    reading_feed(r, t);
}

static bool
is_read(const struct inotify_event *e)
{
    static const char *const names[] = {TRIAL_METRICS, TRIAL_STDOUT,
                                        TRIAL_NNI_FOLDER};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (e->len > 0 && strcmp(e->name, names[i]) == 0)
            return true;
    return e->len == 0; /* it is a file's */
}

void
reading_files(struct reading *r)
{
    char events[16384] __attribute__((aligned(8)));
    const struct inotify_event *e;
    ssize_t n = read(r->inotify_fd, events, sizeof events);

    for (ssize_t at = 0; at < n; at += (ssize_t)sizeof *e + e->len) {
        struct trial *t;

        e = (const struct inotify_event *)(const void *)(events + at);
        if (e->mask & IN_Q_OVERFLOW) {
            for (t = r->live->first; t != NULL; t = t->next)
                unread_add(r, t); /* whose they were is lost */
            continue;
        }
        t = is_read(e) ? map_get(&r->watches, &e->wd, sizeof e->wd) : NULL;
        if (t != NULL && !trial_exited(t))
            take_event(r, t, e);
    }
}

static void
watch_file(struct reading *r, struct trial *t, const char *name, uint32_t what,
           int *watch,
           void (*fail)(struct reading *, struct trial *, const char *))
{
    char *path = file_join(t->folder, name);

    if (path != NULL)
        *watch = inotify_add_watch(r->inotify_fd, path, what);
    free(path);
    if (*watch >= 0 && map_put(&r->watches, watch, sizeof *watch, t) == 0)
        return;
    *watch = -1;
    fail(r, t, "cannot be watched (inotify); read when the trial ends");
    unanswered_close(&t->unanswered); /* nobody would answer before */
}

/* Opens the files that have appeared, and watches them. */
static void
find_files(struct reading *r, struct trial *t)
{
    trial_folder_open(t, r->needs);
    if (t->folder_watch < 0)
        return; /* it does not run */
    if (t->report.fd >= 0 && t->report_watch < 0)
        watch_file(r, t, TRIAL_METRICS, IN_MODIFY, &t->report_watch,
                   complain_lines);
    if (t->out.fd >= 0 && t->out_watch < 0)
        watch_file(r, t, TRIAL_STDOUT, IN_MODIFY, &t->out_watch,
                   complain_lines);
    if (t->nni.fd >= 0 && t->nni_watch < 0)
        watch_file(r, t, TRIAL_NNI_METRICS, IN_MODIFY, &t->nni_watch,
                   complain_records);
}

void
reading_begin(struct reading *r, struct trial *t)
{
    t->stamped_ns = t->past.restored ? 0 : t->started_ns;
    if (!(t->run->runner->ops->can & RUNNER_PROGRAMS))
        return; /* it has no files */
    watch_file(r, t, "", IN_CREATE | IN_MOVED_TO, &t->folder_watch,
               complain_lines);
    if (file_has(t->folder, TRIAL_NNI_FOLDER))
        serve_nni(r, t);
    find_files(r, t);   /* those that prepareCommand has made, too */
    reading_feed(r, t); /* what came before the watch stood */
    if (t->stamped_ns == 0)
        t->stamped_ns = clock_monotonic_ns();
}

static void
unwatch_file(struct reading *r, int *watch)
{
    if (*watch < 0)
        return;
    map_remove(&r->watches, watch, sizeof *watch);
    inotify_rm_watch(r->inotify_fd, *watch);
    *watch = -1;
}

void
reading_hear_end(void *ctx, const struct attempt_end *end)
{
    struct trial *t = end->trial;
    struct reading *r = ctx;

    list_remove(&t->unread);
    if (t->unanswered.fd >= 0)
        unanswered_remove(&t->unanswered, t->folder);
    if (t->folder_watch >= 0 && t->metrics.finals > 0)
        r->needs->unwaited = true; /* it came to its end and did not wait */
    unwatch_file(r, &t->folder_watch);
    unwatch_file(r, &t->report_watch);
    unwatch_file(r, &t->out_watch);
    unwatch_file(r, &t->nni_watch);
}

struct metrics_count
reading_count(const struct reading *r, const struct trial *t)
{
    return (struct metrics_count){
        r->patterns != NULL ? t->matches : t->metrics.intermediates,
        t->metrics.finals,
    };
}

/* ---- told to the dispatcher ---- */

static void
send_metric(struct reading *r, struct trial *t,
            const struct metric_line *metric)
{
    struct buf payload;

    buf_init(&payload, PAYLOAD_MAX);
    metrics_write(&payload, t->id, t->parameter_id,
                  delivery_attempt(r->delivery, t), t->step, metric);
    if (buf_check(&payload, "a metric", NULL) == 0)
        exchange_send(r->exchange, "ME", payload.data, payload.len);
    if (metric->sync)
        r->delivery->ops->sent(r->delivery, t, metric, &payload);
    buf_fini(&payload);
}

void
reading_take_metric(struct reading *r, struct trial *t,
                    const struct metric_line *metric)
{
    bool fresh;

    if (metric->final) {
        if (!t->final.given) /* as for the tuner, the first one counts */
            reported_set(&t->final, metric->value, metric->json, metric->len);
    } else {
        reported_set(&t->latest, metric->value, metric->json, metric->len);
        recent_add(&t->recent, metric->value);
        t->sent++;
        if (trial_reaches(t, metric->sequence)) {
            reported_copy(&t->reached, &t->latest);
            t->reached_at = metric->sequence;
        }
    }
    fresh = metric->sequence >=
            (metric->final ? t->past.told.finals : t->past.told.intermediates);
    if (!t->past.end_told &&
        (fresh || metric->decides_end)) /* else it was answered */
        send_metric(r, t, metric);
    if (!t->past.end_told && fresh)
        publish_metric(r->publish, t, metric);
}

static struct metric_line
final_metric(const struct trial *t, const struct reported *value,
             char text[NUMBER_TEXT_MAX])
{
    struct metric_line m = {.final = true,
                            .sequence = t->metrics.finals,
                            .json = text,
                            .len = number_format(value->value, text),
                            .value = value->value};

    if (value->json != NULL) {
        m.json = value->json;
        m.len = strlen(m.json);
    }
    return m;
}

void
reading_tell(struct reading *r, struct trial *t, const struct reported *value)
{
    char text[NUMBER_TEXT_MAX];
    const struct metric_line metric = final_metric(t, value, text);

    send_metric(r, t, &metric);
}

/* Makes an intermediate result the final one, unless it lacks what that has to
 * have. */
static void
make_final(struct reading *r, struct trial *t, const struct reported *value)
{
    char text[NUMBER_TEXT_MAX];
    struct metric_line metric = final_metric(t, value, text);
    struct err err = {0};

    if (r->x->objectives != NULL &&
        metrics_whole(r->x->objectives, metric.json, metric.len, &metric.value,
                      &err) != 0)
        note_lack(t, err.text);
    else
        reading_take_metric(r, t, &metric);
}

void
reading_finish(struct reading *r, struct trial *t)
{
    if (t->final.given || t->past.told.finals > 0 ||
        (!t->latest.given && !t->earlier.given))
        return;
    make_final(r, t,
               t->reached.given  ? &t->reached
               : t->latest.given ? &t->latest
                                 : &t->earlier);
}

void
reading_promote(struct reading *r, struct trial *t,
                const struct outcome *outcome)
{
    if (t->stop == STOP_FINISH)
        reading_finish(r, t);
    if (!r->x->last_is_final || t->final.given || !t->latest.given ||
        t->stop != STOP_NOT || outcome->kind != OUTCOME_EXITED ||
        outcome->number != 0)
        return;
    make_final(r, t, &t->latest);
}

/* ---- trials that have more to be read ---- */

void
unread_add(struct reading *r, struct trial *t)
{
    if (t->unread.in == NULL)
        list_add(&r->unread, NULL, &t->unread, t);
}

/* Not the one that is being concluded at this moment. */
void
unread_add_ended(struct reading *r)
{
    for (struct trial *t = r->live->first; t != NULL; t = t->next)
        if (t->state == TRIAL_RUN_ENDED || t->state == TRIAL_PREPARE_ENDED)
            unread_add(r, t);
}
