/* SPDX-License-Identifier: MIT */
#include "store/lineage.h"

#include "core/err.h"
#include "core/grow.h"
#include "core/map.h"
#include "history/history.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A trial of the log. */
struct member {
    char *job;
    /* NULL: not known, or none; the first two are JSON. */
    char *id, *parameters, *from;
    uint64_t base; /* the step of its first report */
    bool reported;
};

struct gathering {
    struct map trials; /* trial_job_id -> struct member */
    bool has_bases;
};

/* ---- the log ---- */

static int
memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "out of memory");
}

static struct member *
member_of(struct gathering *g, const char *job)
{
    struct member *m = map_get(&g->trials, job, strlen(job));

    if (m != NULL)
        return m;
    m = calloc(1, sizeof *m);
    if (m != NULL && (m->job = strdup(job)) != NULL &&
        map_put(&g->trials, job, strlen(job), m) == 0)
        return m;
    if (m != NULL)
        free(m->job);
    free(m);
    return NULL;
}

static int
copy_text(char **to, const char *text)
{
    free(*to);
    *to = text == NULL ? NULL : strdup(text);
    return text != NULL && *to == NULL ? -1 : 0;
}

static int
add_fact(struct gathering *g, const struct history_fact *f)
{
    const struct history_suggestion *s;
    struct member *m;

    if (f->trial == NULL)
        return 0;
    m = member_of(g, f->job);
    if (m == NULL)
        return -1;
    s = &f->trial->suggested;
    if (s->id != NULL && (m->id == NULL || strcmp(m->id, s->id) != 0) &&
        (copy_text(&m->id, s->id) != 0 ||
         copy_text(&m->parameters, s->parameters) != 0 ||
         copy_text(&m->from, s->from) != 0))
        return -1;
    if (f->kind != HISTORY_REPORTED || f->metric.final)
        return 0;
    if (!m->reported)
        m->base = f->metric.base;
    m->reported = true;
    g->has_bases |= f->metric.base > 0;
    return 0;
}

static int
gather(struct gathering *g, const char *folder, struct err *err)
{
    struct history_reader *h = history_open(folder, err);
    struct history_fact fact;
    int rc = h == NULL ? -1 : 0;

    while (rc == 0 && (rc = history_next(h, &fact, err)) == 1)
        rc = add_fact(g, &fact) != 0 ? memory(err) : 0;
    history_close(h);
    return rc;
}

static void
gathering_fini(struct gathering *g)
{
    struct member *m;

    for (size_t at = 0; (m = map_next(&g->trials, &at)) != NULL;) {
        free(m->job);
        free(m->id);
        free(m->parameters);
        free(m->from);
        free(m);
    }
    map_fini(&g->trials);
}

/* ---- the line ---- */

static const struct member *
find(const struct gathering *g, const char *word)
{
    const struct member *m = map_get(&g->trials, word, strlen(word));
    char *end, number[32];
    unsigned long long n = strtoull(word, &end, 10);

    if (m != NULL)
        return m;
    snprintf(number, sizeof number, "%05llu", n);
    if (end != word && *end == '\0' &&
        (m = map_get(&g->trials, number, strlen(number))) != NULL)
        return m;
    for (size_t at = 0; (m = map_next(&g->trials, &at)) != NULL;) {
        size_t len = m->id != NULL ? strlen(m->id) : 0;

        if (m->id != NULL && (strcmp(m->id, word) == 0 ||
                              (len == strlen(word) + 2 && m->id[0] == '"' &&
                               strncmp(m->id + 1, word, len - 2) == 0)))
            return m;
    }
    return NULL;
}

/* The trial from whose state that one went on. */
static const struct member *
parent(const struct gathering *g, const struct member *m)
{
    return (g->has_bases && m->reported && m->base == 0) || m->from == NULL
               ? NULL
               : map_get(&g->trials, m->from, strlen(m->from));
}

static int
add(struct lineage *l, const struct member *m, struct err *err)
{
    if (grow_to(&l->trials, l->n + 1, sizeof *l->trials) != 0)
        return memory(err);
    if (m->parameters == NULL)
        return err_set(err, ERR_CONFIG,
                       "the log does not tell what trial %s was given", m->job);
    l->trials[l->n] = (struct lineage_trial){
        .job = strdup(m->job),
        .parameters =
            json_parse(m->parameters, strlen(m->parameters), JSON_STRICT, err),
        .from = m->base,
    };
    l->n++;
    return l->trials[l->n - 1].job == NULL ||
                   l->trials[l->n - 1].parameters == NULL
               ? memory(err)
               : 0;
}

/* Puts the line's first trial first.  A trial that reported nothing began where
 * the one before it did. */
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
    const struct member *m = NULL;
    int rc = gather(&g, folder, err);

    *l = (struct lineage){NULL, 0};
    if (rc == 0 && (m = find(&g, word)) == NULL)
        rc = err_set(err, ERR_CONFIG, "the log has no trial '%.64s'", word);
    /* no line is longer than there are trials */
    for (size_t n = g.trials.count; rc == 0 && m != NULL && n > 0; n--) {
        rc = add(l, m, err);
        m = parent(&g, m);
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
        json_free(l->trials[i].parameters);
    }
    free(l->trials);
    *l = (struct lineage){NULL, 0};
}

struct jval
lineage_parameters(const struct lineage_trial *t)
{
    struct jval v = json_root(t->parameters);

    return jval_type(v) == JSON_OBJECT ? v : (struct jval){0};
}
