/* SPDX-License-Identifier: MIT */
#include "store/lineage.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/map.h"
#include "frame.h"
#include "log/log.h"
#include "log/record.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE_SIZE 2
#define ID_MAX ((size_t)1 << 20)

/* A trial that was heard of. */
struct heard {
    char *job, *id; /* id: as JSON has it */
    uint64_t base;
    bool reported;
};

struct gathering {
    struct map records; /* parameter_id -> the text of its TR */
    struct map trials;  /* trial_job_id -> struct heard */
    bool has_bases;
};

/* ---- the log ---- */

static int
memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "out of memory");
}

static int
take_suggestion(struct gathering *g, const char *text, size_t len,
                struct err *err)
{
    struct json *doc = json_parse(text, len, JSON_STRICT, NULL);
    struct jval v;
    struct buf id;
    char *copy;
    int rc = 0;

    if (doc == NULL)
        return 0;
    buf_init(&id, ID_MAX);
    if (jval_get(json_root(doc), "parameter_id", &v)) {
        jval_write(v, &id);
        copy = strndup(text, len);
        free(map_get(&g->records, buf_text(&id), id.len)); /* sent again */
        if (copy == NULL ||
            map_put(&g->records, buf_text(&id), id.len, copy) != 0) {
            map_remove(&g->records, buf_text(&id), id.len);
            free(copy);
            rc = memory(err);
        }
    }
    buf_fini(&id);
    json_free(doc);
    return rc;
}

static struct heard *
hear(struct gathering *g, const char *job, const char *id)
{
    struct heard *h = map_get(&g->trials, job, strlen(job));

    if (h == NULL) {
        h = calloc(1, sizeof *h);
        if (h == NULL)
            return NULL;
        h->job = strdup(job);
        if (h->job == NULL || map_put(&g->trials, job, strlen(job), h) != 0) {
            free(h->job);
            free(h);
            return NULL;
        }
    }
    if (h->id == NULL && id != NULL)
        h->id = strdup(id);
    return h;
}

/* As JSON has it; to be freed; NULL: none. */
static char *
id_text(const struct parameter_id *id)
{
    struct buf b;
    char *text = NULL;

    buf_init(&b, ID_MAX);
    switch (id->kind) {
    case PARAMETER_NUMBER:
        buf_printf(&b, "%" PRIu64, id->number);
        break;
    case PARAMETER_LABEL:
        json_write_string(&b, id->label, strlen(id->label));
        break;
    case PARAMETER_NONE:
        break;
    }
    if (b.len > 0)
        text = strdup(buf_text(&b));
    buf_fini(&b);
    return text;
}

static int
take_metric(struct gathering *g, const char *text, size_t len, struct err *err)
{
    const struct frame frame = {.code = "ME", .payload = text, .len = len};
    struct command *cmd = command_decode(&frame, 1, NULL);
    struct heard *h;
    char *id;
    int rc = 0;

    if (cmd != NULL && cmd->metric.type == METRIC_PERIODICAL) {
        id = id_text(&cmd->metric.parameter);
        h = hear(g, cmd->metric.job, id);
        free(id);
        if (h == NULL)
            rc = memory(err);
        else if (!h->reported)
            h->base = cmd->metric.base;
        if (h != NULL)
            h->reported = true;
        g->has_bases |= cmd->metric.base > 0;
    }
    command_free(cmd);
    return rc;
}

/* For those that never report. */
static int
take_note(struct gathering *g, const char *text, size_t len, struct err *err)
{
    struct json *doc = json_parse(text, len, JSON_STRICT, NULL);
    struct jval job, id;
    const char *word;
    struct buf b;
    int rc = 0;

    buf_init(&b, ID_MAX);
    if (doc != NULL && jval_get(json_root(doc), "trial_job_id", &job) &&
        jval_string(job, &word, NULL) &&
        jval_get(json_root(doc), "parameter_id", &id)) {
        jval_write(id, &b);
        if (hear(g, word, buf_text(&b)) == NULL)
            rc = memory(err);
    }
    buf_fini(&b);
    json_free(doc);
    return rc;
}

static const struct {
    enum record_kind kind;
    const char *code;
    int (*take)(struct gathering *g, const char *text, size_t len,
                struct err *err);
} takers[] = {
    {RECORD_TUNER, "TR", take_suggestion},
    {RECORD_IN, "ME", take_metric},
    {RECORD_IN, "NT", take_note},
};

static int
take(struct gathering *g, const struct record *r, struct err *err)
{
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        if (r->kind == takers[i].kind && r->len >= CODE_SIZE &&
            memcmp(r->payload, takers[i].code, CODE_SIZE) == 0)
            return takers[i].take(g, r->payload + CODE_SIZE, r->len - CODE_SIZE,
                                  err);
    return 0;
}

static int
gather(struct gathering *g, const char *folder, struct err *err)
{
    char *path = log_path(folder);
    struct log_reader *log = path == NULL ? NULL : log_open(path, 0, err);
    enum log_status status = LOG_DAMAGED;
    struct record r;

    if (path == NULL)
        memory(err);
    while (log != NULL && (status = log_next(log, &r, err)) == LOG_RECORD)
        if (take(g, &r, err) != 0) {
            status = LOG_DAMAGED;
            break;
        }
    log_close(log);
    free(path);
    return status == LOG_DAMAGED ? -1 : 0;
}

static void
gathering_fini(struct gathering *g)
{
    struct heard *h;
    char *text;

    for (size_t at = 0; (text = map_next(&g->records, &at)) != NULL;)
        free(text);
    for (size_t at = 0; (h = map_next(&g->trials, &at)) != NULL;) {
        free(h->job);
        free(h->id);
        free(h);
    }
    map_fini(&g->records);
    map_fini(&g->trials);
}

/* ---- the line ---- */

static const struct heard *
find(const struct gathering *g, const char *word)
{
    const struct heard *h = map_get(&g->trials, word, strlen(word));
    char *end, number[32];
    unsigned long long n = strtoull(word, &end, 10);

    if (h != NULL)
        return h;
    snprintf(number, sizeof number, "%05llu", n);
    if (end != word && *end == '\0' &&
        (h = map_get(&g->trials, number, strlen(number))) != NULL)
        return h;
    for (size_t at = 0; (h = map_next(&g->trials, &at)) != NULL;) {
        size_t len = h->id != NULL ? strlen(h->id) : 0;

        if (h->id != NULL && (strcmp(h->id, word) == 0 ||
                              (len == strlen(word) + 2 && h->id[0] == '"' &&
                               strncmp(h->id + 1, word, len - 2) == 0)))
            return h;
    }
    return NULL;
}

static const struct heard *
parent(const struct gathering *g, const struct heard *h,
       const struct lineage_trial *t)
{
    const char *job;
    struct jval v;

    if ((g->has_bases && h->reported && h->base == 0) ||
        !jval_get(json_root(t->record), "resume_from", &v) ||
        !jval_string(v, &job, NULL))
        return NULL;
    return map_get(&g->trials, job, strlen(job));
}

static int
add(struct lineage *l, const struct gathering *g, const struct heard *h,
    struct err *err)
{
    const char *text =
        h->id != NULL ? map_get(&g->records, h->id, strlen(h->id)) : NULL;
    struct lineage_trial *more =
        realloc(l->trials, (l->n + 1) * sizeof *l->trials);

    if (more == NULL)
        return memory(err);
    l->trials = more;
    if (text == NULL)
        return err_set(err, ERR_CONFIG,
                       "the log does not tell what trial %s was given", h->job);
    l->trials[l->n] = (struct lineage_trial){
        .job = strdup(h->job),
        .record = json_parse(text, strlen(text), JSON_STRICT, err),
        .from = h->base,
    };
    l->n++;
    return l->trials[l->n - 1].job == NULL || l->trials[l->n - 1].record == NULL
               ? memory(err)
               : 0;
}

/* The first one first; who reported nothing began where the one before did. */
static void
turn_around(struct lineage *l)
{
    for (size_t i = 0; i < l->n / 2; i++) {
        struct lineage_trial t = l->trials[i];

        l->trials[i] = l->trials[l->n - 1 - i];
        l->trials[l->n - 1 - i] = t;
    }
    for (size_t i = 1; i < l->n; i++)
        if (l->trials[i].from < l->trials[i - 1].from)
            l->trials[i].from = l->trials[i - 1].from;
}

int
lineage_read(struct lineage *l, const char *folder, const char *word,
             struct err *err)
{
    struct gathering g = {.has_bases = false};
    const struct heard *h = NULL;
    int rc = gather(&g, folder, err);

    *l = (struct lineage){NULL, 0};
    if (rc == 0 && (h = find(&g, word)) == NULL)
        rc = err_set(err, ERR_CONFIG, "the log has no trial '%.64s'", word);
    /* No line is longer than there are trials. */
    for (size_t n = g.trials.count; rc == 0 && h != NULL && n > 0; n--) {
        rc = add(l, &g, h, err);
        h = rc == 0 ? parent(&g, h, &l->trials[l->n - 1]) : NULL;
    }
    gathering_fini(&g);
    turn_around(l);
    if (rc != 0)
        lineage_fini(l);
    return rc;
}

void
lineage_fini(struct lineage *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->trials[i].job);
        json_free(l->trials[i].record);
    }
    free(l->trials);
    *l = (struct lineage){NULL, 0};
}

struct jval
lineage_parameters(const struct lineage_trial *t)
{
    struct jval v;

    if (!jval_get(json_root(t->record), "parameters", &v) ||
        jval_type(v) != JSON_OBJECT)
        return (struct jval){0};
    return v;
}
