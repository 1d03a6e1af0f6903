/* SPDX-License-Identifier: MIT */
/* What becomes of living trials when the manager is started again. */
#include "dispatcher/marks.h"

#include "dispatcher/marks_state.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

/* The parameter ids that an AD names. */
struct named {
    struct idset *numbers;
    struct map labels;
};

static int
named_add(struct named *n, struct jval record)
{
    const char *label;
    uint64_t number;
    struct jval id;
    size_t len;

    if (!jval_get(record, "parameter_id", &id))
        return 0;
    if (jval_uint(id, &number))
        return number > MARKS_RECOVERED_MAX ? 0 : idset_add(n->numbers, number);
    if (jval_string(id, &label, &len) && len > 0)
        return map_put(&n->labels, label, len, n);
    return 0;
}

static bool
named_has(const struct named *n, const struct parameter_id *id)
{
    switch (id->kind) {
    case PARAMETER_NUMBER:
        return idset_has(n->numbers, id->number);
    case PARAMETER_LABEL:
        return map_get(&n->labels, id->label, strlen(id->label)) != NULL;
    case PARAMETER_NONE:
        break;
    }
    return false;
}

/* One that ended, as far as we know, and runs again all the same. */
static void
unend(struct idset *ended, const struct idset *again)
{
    for (size_t i = 0; i < ended->n_words && i < again->n_words; i++)
        ended->words[i] &= ~again->words[i];
}

int
marks_rerun(struct marks *m, struct jval list, uint64_t attempt,
            struct idset *rerun)
{
    struct named named = {.numbers = rerun};
    struct living *l;
    size_t at = 0;
    int rc = 0;

    for (size_t i = 0; i < jval_count(list) && rc == 0; i++)
        rc = named_add(&named, jval_at(list, i));
    while ((l = map_next(&m->living, &at)) != NULL)
        if (l->attempt < attempt && named_has(&named, &l->parameter)) {
            marks_start_attempt(l, attempt);
            l->killed = false;
        }
    unend(&m->ended, rerun);
    map_fini(&m->ended_jobs); /* nobody reports for them any more */
    map_fini(&named.labels);
    return rc;
}

uint64_t
marks_attempt(const struct marks *m, const char *job, uint64_t sequence,
              uint64_t attempt, const struct idset *rerun)
{
    const struct living *l = map_get(&m->living, job, strlen(job));

    if (l == NULL || l->attempt < attempt)
        return attempt;
    if (l->attempt == attempt && sequence == 0 && l->next > 0 &&
        l->parameter.kind == PARAMETER_NUMBER &&
        idset_has(rerun, l->parameter.number))
        return attempt + 1;
    return l->attempt;
}

static int
list(const struct marks *m, uint64_t before, struct command *cmd)
{
    const struct map_slot **slots = map_sorted(&m->living);
    int rc = slots == NULL ? -1 : 0;

    for (size_t i = 0; rc == 0 && i < m->living.count; i++) {
        const struct living *l = slots[i]->value;

        if (l->attempt < before)
            rc = command_add_run(cmd, slots[i]->key, &l->parameter);
    }
    free(slots);
    return rc;
}

int
marks_list(const struct marks *m, struct command *cmd)
{
    return list(m, UINT64_MAX, cmd);
}

int
marks_lose(struct marks *m, uint64_t attempt, struct command *cmd)
{
    if (list(m, attempt, cmd) != 0)
        return -1;
    for (size_t i = 0; i < cmd->n_runs; i++) {
        const char *job = cmd->runs[i].job;

        marks_living_free(map_remove(&m->living, job, strlen(job)));
    }
    return 0;
}
