/* SPDX-License-Identifier: MIT */
#include "runs.h"

#include "core/err.h"
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
runs_init(struct runs *r)
{
    *r = (struct runs){0};
}

static void
names_fini(struct names *n)
{
    for (size_t i = 0; i < n->n; i++)
        free(n->text[i]);
    free(n->text);
}

void
runs_fini(struct runs *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->v[i].best);
        free(r->v[i].error);
    }
    free(r->v);
    names_fini(&r->problems);
    names_fini(&r->families);
    names_fini(&r->solvers);
}

size_t
names_find(const struct names *n, const char *text)
{
    for (size_t i = 0; i < n->n; i++)
        if (strcmp(n->text[i], text) == 0)
            return i;
    return SIZE_MAX;
}

/* SIZE_MAX: out of memory. */
static size_t
intern(struct names *n, const char *text)
{
    size_t at = names_find(n, text);
    char **grown, *copy;

    if (at != SIZE_MAX)
        return at;
    grown = realloc(n->text, (n->n + 1) * sizeof *grown);
    if (grown == NULL)
        return SIZE_MAX;
    n->text = grown;
    copy = strdup(text);
    if (copy == NULL)
        return SIZE_MAX;
    n->text[n->n] = copy;
    return n->n++;
}

#define TRIALS_MAX 1000000

static const char *
text_of(struct jval line, const char *key)
{
    const char *text;
    struct jval v;

    return jval_get(line, key, &v) && jval_string(v, &text, NULL) ? text : NULL;
}

/* The number of trials behind which the i-th of `best` stands: i + 1, or what
 * `after` says; 0: neither. */
static size_t
trials_of(struct jval after, bool sparse, size_t i)
{
    uint64_t n;

    if (!sparse)
        return i + 1;
    return i < jval_count(after) && jval_uint(jval_at(after, i), &n) &&
                   n <= TRIALS_MAX
               ? (size_t)n
               : 0;
}

static int
read_best(struct jval line, struct run *run)
{
    struct jval values, after = {0};
    bool sparse = jval_get(line, "after", &after);
    size_t n, trials = 0;
    double value;

    if (!jval_get(line, "best", &values) || (n = jval_count(values)) == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (trials_of(after, sparse, i) > trials)
            trials = trials_of(after, sparse, i);
    run->best = calloc(trials, sizeof *run->best);
    if (run->best == NULL)
        return trials > 0 ? -1 : 0;
    for (size_t i = 0; i < n; i++) {
        trials = trials_of(after, sparse, i);
        if (trials <= run->n_best || !jval_number(jval_at(values, i), &value))
            break;
        for (; run->n_best + 1 < trials; run->n_best++)
            run->best[run->n_best] =
                run->n_best > 0 ? run->best[run->n_best - 1] : INFINITY;
        run->best[run->n_best++] = value;
    }
    return 0;
}

static bool
read_names(struct runs *r, struct jval line, bool peer, struct run *run)
{
    const char *problem = text_of(line, "problem");
    const char *family = text_of(line, "family");
    const char *solver = text_of(line, "solver");
    char label[128];

    if (problem == NULL || family == NULL || solver == NULL)
        return false;
    snprintf(label, sizeof label, "%s%s", peer ? "peer/" : "", solver);
    run->problem = intern(&r->problems, problem);
    run->family = intern(&r->families, family);
    run->solver = intern(&r->solvers, label);
    return run->problem != SIZE_MAX && run->family != SIZE_MAX &&
           run->solver != SIZE_MAX;
}

static bool
has_room(struct runs *r)
{
    size_t cap = r->cap == 0 ? 1024 : r->cap * 2;
    struct run *grown;

    if (r->n < r->cap)
        return true;
    grown = realloc(r->v, cap * sizeof *grown);
    if (grown == NULL)
        return false;
    r->v = grown;
    r->cap = cap;
    return true;
}

static void
read_line(struct runs *r, struct jval line, const char *mode, bool peer)
{
    struct run run = {.peer = peer, .optimum = NAN};
    const char *text = text_of(line, "mode");
    struct jval v;

    if (text == NULL || strcmp(text, mode) != 0 || !has_room(r) ||
        !read_names(r, line, peer, &run) || !jval_get(line, "seed", &v) ||
        !jval_uint(v, &run.seed) || read_best(line, &run) != 0)
        return;
    if (jval_get(line, "optimum", &v))
        jval_number(v, &run.optimum);
    text = text_of(line, "error");
    run.error = text == NULL ? NULL : strdup(text);
    r->v[r->n++] = run;
}

int
runs_read(struct runs *r, const char *path, const char *mode, bool peer,
          struct err *err)
{
    FILE *f = fopen(path, "re");
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;

    if (f == NULL)
        return err_errno(err, ERR_SYSTEM, "%s", path);
    while ((len = getline(&line, &cap, f)) > 0) {
        struct json *doc = json_parse(line, (size_t)len, JSON_NAN, NULL);

        if (doc != NULL)
            read_line(r, json_root(doc), mode, peer);
        json_free(doc);
    }
    free(line);
    fclose(f);
    return 0;
}

#define ORDER(a, b) ((a) < (b) ? -1 : (a) > (b))

static int
compare(const void *left, const void *right)
{
    const struct run *a = left, *b = right;

    if (a->problem != b->problem)
        return ORDER(a->problem, b->problem);
    if (a->seed != b->seed)
        return ORDER(a->seed, b->seed);
    if (a->solver != b->solver)
        return ORDER(a->solver, b->solver);
    return ORDER(b->n_best, a->n_best);
}

void
runs_sort(struct runs *r)
{
    if (r->n > 0)
        qsort(r->v, r->n, sizeof *r->v, compare);
}
