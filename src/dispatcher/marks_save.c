/* SPDX-License-Identifier: MIT */
#include "dispatcher/marks.h"

#include "core/pack.h"
#include "dispatcher/marks_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- out ---- */

static void
save_mark(const struct mark *mark, struct buf *out)
{
    pack_f64(out, mark->value);
    pack_u64(out, mark->step);
}

static void
save_living(const struct living *l, struct buf *out)
{
    pack_u64(out, l->parameter.kind);
    pack_u64(out, l->parameter.number);
    pack_text(out, l->parameter.label);
    pack_u64(out, l->attempt);
    pack_u64(out, l->next);
    idset_save(&l->ahead, out);
    pack_u64(out, l->killed);
    pack_u64(out, l->has_marks);
    if (!l->has_marks)
        return;
    save_mark(&l->latest, out);
    save_mark(&l->lowest, out);
    save_mark(&l->highest, out);
}

void
marks_save(const struct marks *m, struct buf *out)
{
    const struct map_slot **living = map_sorted(&m->living);
    const struct map_slot **ended = map_sorted(&m->ended_jobs);

    pack_u64(out, m->issued);
    idset_save(&m->ended, out);
    pack_u64(out, m->ended_jobs.count);
    for (size_t i = 0; ended != NULL && i < m->ended_jobs.count; i++)
        pack_text(out, ended[i]->key);
    pack_u64(out, m->living.count);
    for (size_t i = 0; living != NULL && i < m->living.count; i++) {
        pack_text(out, living[i]->key);
        save_living(living[i]->value, out);
    }
    out->failed = out->failed || living == NULL || ended == NULL;
    free(living);
    free(ended);
}

/* ---- in ---- */

static void
load_parameter(struct parameter_id *id, struct unpack *in)
{
    uint64_t kind = unpack_u64(in), number = unpack_u64(in);
    const char *label = unpack_text(in);

    if (kind > PARAMETER_LABEL ||
        (label != NULL) != (kind == PARAMETER_LABEL) ||
        (label != NULL && (id->label = strdup(label)) == NULL)) {
        unpack_fail(in);
        return;
    }
    id->kind = (enum parameter_kind)kind;
    id->number = number;
}

static void
load_ahead(struct living *l, struct unpack *in)
{
    if (idset_load(&l->ahead, in) != 0 || l->ahead.n_words > AHEAD_MAX / 64) {
        unpack_fail(in);
        return;
    }
    l->n_ahead = (size_t)idset_count(&l->ahead);
}

static struct mark
load_mark(struct unpack *in)
{
    struct mark mark;

    mark.value = unpack_f64(in);
    mark.step = unpack_u64(in);
    return mark;
}

static void
load_living(struct living *l, struct unpack *in)
{
    load_parameter(&l->parameter, in);
    l->attempt = unpack_u64(in);
    l->next = unpack_u64(in);
    load_ahead(l, in);
    l->killed = unpack_bool(in);
    l->has_marks = unpack_bool(in);
    if (!l->has_marks)
        return;
    l->latest = load_mark(in);
    l->lowest = load_mark(in);
    l->highest = load_mark(in);
}

/* False where there was a failure before, or the name is there already. */
static bool
enter(struct map *map, const char *job, void *value, struct unpack *in)
{
    if (!in->failed && job != NULL && map_get(map, job, strlen(job)) == NULL &&
        map_put(map, job, strlen(job), value) == 0)
        return true;
    unpack_fail(in);
    return false;
}

static void
load_job(struct marks *m, struct unpack *in)
{
    const char *job = unpack_text(in);
    struct living *l = calloc(1, sizeof *l);

    if (l == NULL)
        unpack_fail(in);
    else
        load_living(l, in);
    if (!enter(&m->living, job, l, in))
        marks_living_free(l);
}

int
marks_load(struct marks *m, struct unpack *in)
{
    size_t n;

    m->issued = unpack_u64(in);
    idset_load(&m->ended, in);
    n = unpack_count(in, sizeof(uint64_t));
    for (size_t i = 0; i < n && !in->failed; i++)
        enter(&m->ended_jobs, unpack_text(in), m, in);
    n = unpack_count(in, 9 * sizeof(uint64_t));
    for (size_t i = 0; i < n && !in->failed; i++)
        load_job(m, in);
    return in->failed ? -1 : 0;
}
