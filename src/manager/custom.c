/* SPDX-License-Identifier: MIT */
#include "manager/custom.h"

#include "config/experiment.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/map.h"
#include "core/number.h"
#include "history/folder.h"
#include "manager/coordinator.h"
#include "manager/exchange.h"
#include "manager/experiment_end.h"
#include "manager/experiment_folder.h"
#include "manager/goals.h"
#include "manager/launch.h"
#include "manager/live.h"
#include "manager/parameters.h"
#include "manager/placing.h"
#include "manager/progress.h"
#include "manager/publish.h"
#include "manager/scheduler.h"
#include "manager/trial.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_MAX ((size_t)16 << 20)
#define FRAME_BYTES ((size_t)1 << 20) /* about so many in one AD */
#define ID_GAP 1000 /* parameter_ids: more than may be under way to us */
#define ID_TEXT 24
#define KEPT_MAX ((size_t)512 << 20)

int
custom_check_open(const struct custom *c, struct err *err)
{
    int64_t now = clock_monotonic_ns();
    char why[200];

    if (c->x->deterministic)
        return err_set(err, ERR_INPUT,
                       "a deterministic experiment takes no more trials: no "
                       "clock may decide its course");
    if (c->end->known)
        return err_set(err, ERR_INPUT, "the experiment takes no more trials");
    if (goals_reached(c->coordinator->goals, now, why, sizeof why))
        return err_set(err, ERR_INPUT,
                       "the experiment takes no more trials: %s", why);
    if (c->coordinator->deadline_ns <= now)
        return err_set(err, ERR_INPUT,
                       "the experiment takes no more trials: "
                       "maxExperimentDuration is over");
    return 0;
}

/* ---- a batch ---- */

/* Above all that were given and all that may be on their way.  The dispatcher
 * counts on behind it. */
static uint64_t
free_id(const struct custom *c)
{
    return live_last_id(c->live) + c->scheduler->owed + ID_GAP;
}

struct custom_batch
custom_begin(struct custom *c)
{
    return (struct custom_batch){.of = c, .id = free_id(c)};
}

void
custom_write_record(struct buf *out, const char *id, const char *source,
                    const char *parameters)
{
    struct json_writer w = json_begin_object(out);

    json_add_raw(&w, "parameter_id", id);
    json_add_text(&w, "parameter_source", source);
    json_add_raw(&w, "parameters", parameters);
    json_add_unsigned(&w, "parameter_index", 0);
    json_close(&w);
}

static int
add(struct custom_batch *b, struct trial *t, struct err *err)
{
    if (t == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    *(b->last == NULL ? &b->first : &b->last->next) = t;
    b->last = t;
    b->n++;
    return 0;
}

int
custom_add(struct custom_batch *b, const char *parameters, const char *source,
           struct err *err)
{
    uint64_t number = b->of->live->n_numbers + b->n;
    struct buf record;
    char id[ID_TEXT];
    int rc;

    snprintf(id, sizeof id, "%llu", (unsigned long long)b->id++);
    buf_init(&record, 2 * RECORD_MAX);
    custom_write_record(&record, id, source, parameters);
    rc = buf_check(&record, "the parameters", err);
    if (rc == 0)
        rc = add(
            b, trial_new(number, buf_text(&record), record.len, id, parameters),
            err);
    buf_fini(&record);
    return rc;
}

static struct trial *
take(struct custom_batch *b)
{
    struct trial *t = b->first;

    if (t != NULL)
        b->first = t->next;
    if (t != NULL)
        t->next = NULL;
    return t;
}

void
custom_drop(struct custom_batch *b)
{
    struct trial *t;

    while ((t = take(b)) != NULL)
        trial_free(t);
}

/* ---- told and begun ---- */

/* The array of an AD, which is sent when it is long enough. */
struct telling {
    struct exchange *exchange;
    struct buf list; /* not closed */
};

static void
send(struct telling *to)
{
    if (to->list.len == 0)
        return;
    buf_add_char(&to->list, ']');
    if (buf_check(&to->list, "the parameters", NULL) == 0)
        exchange_send(to->exchange, "AD", to->list.data, to->list.len);
    buf_clear(&to->list);
}

static void
tell(struct telling *to, const struct trial *t)
{
    if (to->list.max == 0)
        buf_init(&to->list, 4 * RECORD_MAX);
    buf_add_text(&to->list, to->list.len == 0 ? "[" : ", ");
    buf_add(&to->list, t->record, t->record_len);
    if (to->list.len > FRAME_BYTES)
        send(to);
}

/* The dispatcher is told of them as of trials that an earlier run gave out:
 * their results are to be learnt from. */
static void
queue_all(struct custom_batch *b, struct json_writer *ids)
{
    struct custom *c = b->of;
    struct telling to = {.exchange = c->exchange};
    struct trial *t;

    while ((t = take(b)) != NULL) {
        tell(&to, t);
        scheduler_restored(c->scheduler, true);
        live_add(c->live, t);
        placing_add(c->placing, t);
        publish_trial(c->publish, EVENT_TRIAL_WAITING, t);
        if (ids != NULL)
            json_add_text(ids, NULL, t->id);
    }
    send(&to);
    buf_fini(&to.list);
}

/* To the object that ends the buffer. */
static void
add_tag(struct buf *out, const char *tag)
{
    struct json_writer w = json_reopen_object(out);

    json_add_text(&w, "tag", tag);
    json_close(&w);
}

/* Keeps their records: what was promised to the user is begun by the next
 * manager, should this one and its dispatcher die before it is on record.  Each
 * line has its end before it, so that a torn one costs itself. */
static int
keep(const struct custom_batch *b, struct err *err)
{
    char *path = file_join(b->of->folder->path, FOLDER_ADDED);
    const int flags = O_WRONLY | O_APPEND | O_CREAT;
    int fd = path == NULL ? -1 : file_open_plain(path, flags), rc;
    off_t before = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    struct buf lines;

    if (before < 0) {
        err_errno(err, ERR_SYSTEM, "cannot keep the trials in " FOLDER_ADDED);
        if (fd >= 0)
            close(fd);
        free(path);
        return -1;
    }
    buf_init(&lines, KEPT_MAX);
    for (const struct trial *t = b->first; t != NULL; t = t->next) {
        buf_add_char(&lines, '\n');
        buf_add(&lines, t->record, t->record_len);
        if (b->tag != NULL)
            add_tag(&lines, b->tag);
    }
    rc = buf_check(&lines, "the parameters", err);
    if (rc == 0)
        rc = file_write_all(fd, lines.data, lines.len, err);
    if (rc != 0 && ftruncate(fd, before) != 0)
        err_place(err, FOLDER_ADDED);
    close(fd);
    buf_fini(&lines);
    free(path);
    return rc;
}

int
custom_end(struct custom_batch *b, struct json_writer *ids, struct err *err)
{
    struct coordinator *limits = b->of->coordinator;
    uint64_t most = b->of->scheduler->max_trials;

    if (b->n == 0)
        return 0;
    if (most > 0 && coordinator_limit(limits, most + b->n, 0, err) != 0)
        return -1;
    if (keep(b, err) != 0) {
        if (most > 0)
            coordinator_limit(limits, most, 0, NULL);
        return -1;
    }
    queue_all(b, ids);
    return 0;
}

/* ---- the user's own ---- */

static int
complete(const struct space *space, uint64_t seed, struct jval given,
         uint64_t id, struct buf *out, struct err *err)
{
    char text[ID_TEXT];

    if (space == NULL)
        return err_set(err, ERR_INPUT, "the search space cannot be read");
    snprintf(text, sizeof text, "%llu", (unsigned long long)id);
    return parameters_complete(space, given, parameters_seed(seed, text), out,
                               err);
}

/* The lines that were kept, to be freed; NULL: there are none. */
static char *
read_kept(const struct custom *c)
{
    char *path = file_join(c->folder->path, FOLDER_ADDED), *lines = NULL;
    struct buf text;

    buf_init(&text, 2 * KEPT_MAX);
    if (path != NULL && file_read_plain(path, KEPT_MAX, &text, NULL) == 0 &&
        text.len > 0)
        lines = buf_take(&text);
    free(path);
    buf_fini(&text);
    return lines;
}

/* Appends the ids of the trials that were kept under a tag: how many. */
static size_t
write_tagged(const struct custom *c, const char *tag, struct json_writer *ids)
{
    char *lines = read_kept(c), id[ID_TEXT], *line;
    size_t n = 0;

    for (char *at = lines; at != NULL && (line = strsep(&at, "\n")) != NULL;) {
        struct suggestion s;
        uint64_t number;

        if (suggestion_read(line, strlen(line), &s, NULL) != 0)
            continue;
        if (strcmp(jval_text_of(json_root(s.doc), "tag"), tag) == 0 &&
            live_knows_id(c->live, s.id, &number)) {
            snprintf(id, sizeof id, "%05llu", (unsigned long long)number);
            json_add_text(ids, NULL, id);
            n++;
        }
        suggestion_fini(&s);
    }
    free(lines);
    return n;
}

int
custom_trials(struct custom *c, struct jval list, const char *tag, bool again,
              struct json_writer *ids, struct err *err)
{
    struct custom_batch b = custom_begin(c);
    size_t n = jval_count(list);
    size_t done = again && tag != NULL ? write_tagged(c, tag, ids) : 0;
    struct buf set;
    int rc = done < n ? custom_check_open(c, err) : 0;

    b.tag = tag;
    buf_init(&set, RECORD_MAX);
    for (size_t i = done; rc == 0 && i < n; i++) {
        buf_clear(&set);
        rc = complete(c->launch->space, c->folder->seed, jval_at(list, i), b.id,
                      &set, err);
        if (rc != 0 && n > 1)
            err_place(err, "set %zu", i + 1);
        if (rc == 0)
            rc = custom_add(&b, buf_text(&set), SOURCE_CUSTOM, err);
    }
    if (rc == 0)
        rc = custom_end(&b, ids, err);
    custom_drop(&b);
    buf_fini(&set);
    return rc;
}

int
custom_write_enqueued(const struct experiment *x, const struct space *space,
                      uint64_t seed, size_t i, struct buf *out, struct err *err)
{
    const char *given = x->enqueued[i].parameters;
    struct json *doc = json_parse(given, strlen(given), JSON_STRICT, err);
    int rc =
        doc == NULL ? -1 : complete(space, seed, json_root(doc), i, out, err);

    json_free(doc);
    return rc;
}

static void
enqueue(struct custom_batch *b, size_t i)
{
    const struct custom *c = b->of;
    struct err err = {0};
    struct buf set;

    b->id = i;
    buf_init(&set, RECORD_MAX);
    if (custom_write_enqueued(c->x, c->launch->space, c->folder->seed, i, &set,
                              &err) != 0 ||
        custom_add(b, buf_text(&set), SOURCE_CUSTOM, &err) != 0)
        progress_warn(c->progress,
                      "tunepipe: warning: enqueue[%zu]: not tried: %s", i,
                      err.text);
    buf_fini(&set);
}

/* Takes what was added and is nowhere on record. */
static void
take_kept(struct custom_batch *b)
{
    const struct custom *c = b->of;
    char *lines = read_kept(c), *line;

    for (char *at = lines; at != NULL && (line = strsep(&at, "\n")) != NULL;) {
        uint64_t number = c->live->n_numbers + b->n;
        size_t len = strlen(line);
        struct suggestion s;

        if (len == 0 || suggestion_read(line, len, &s, NULL) != 0)
            continue;
        if (!live_knows_id(c->live, s.id, NULL))
            add(b, trial_of(number, line, len, &s), NULL);
        suggestion_fini(&s);
    }
    free(lines);
}

void
custom_begin_rest(struct custom *c)
{
    struct custom_batch b = {.of = c};
    char id[ID_TEXT];

    for (size_t i = 0; i < c->x->n_enqueued; i++) {
        snprintf(id, sizeof id, "%zu", i);
        if (!live_knows_id(c->live, id, NULL))
            enqueue(&b, i);
    }
    take_kept(&b);
    queue_all(&b, NULL);
}

void
custom_tell_again(struct custom *c)
{
    struct telling to = {.exchange = c->exchange};

    for (const struct trial *t = c->live->first; t != NULL; t = t->next) {
        struct json *doc =
            json_parse(t->record, t->record_len, JSON_STRICT, NULL);

        if (doc != NULL &&
            strcmp(jval_text_of(json_root(doc), "parameter_source"),
                   SOURCE_CUSTOM) == 0)
            tell(&to, t);
        json_free(doc);
    }
    send(&to);
    buf_fini(&to.list);
}
