/* SPDX-License-Identifier: MIT */
#include "manager/repeat.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/map.h"
#include "core/number.h"
#include "manager/custom.h"
#include "manager/experiment_folder.h"
#include "manager/live.h"
#include "manager/progress.h"
#include "manager/results.h"
#include "manager/trial.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDS_MAX ((size_t)48 << 20)

/* ---- by their numbers ---- */

static uint64_t
number_of(const char *trial)
{
    uint64_t number = 0;

    number_parse_u64(trial, strlen(trial), &number);
    return number;
}

/* NULL: it has not ended, or is none. */
static const struct result *
find_result(const struct results *all, uint64_t number)
{
    for (size_t i = all->n; i > 0; i--)
        if (number_of(all->items[i - 1].trial) == number)
            return &all->items[i - 1];
    return NULL;
}

static int
add_named(const struct repeat *r, struct jval list, const struct results *all,
          struct custom_batch *b, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < jval_count(list) && rc == 0; i++) {
        const struct result *result;
        uint64_t number = 0;

        jval_uint(jval_at(list, i), &number);
        result = find_result(all, number);
        if (result != NULL)
            rc = custom_add(b, result->parameters, SOURCE_REPEATED, err);
        else
            rc = err_set(err, ERR_INPUT,
                         number < r->live->n_numbers
                             ? "trial %05llu has not ended"
                             : "trial %05llu: there is none",
                         (unsigned long long)number);
    }
    return rc;
}

int
repeat_named(struct repeat *r, struct jval list, struct json_writer *ids,
             struct err *err)
{
    struct custom_batch b = custom_begin(r->custom);
    struct results *all;
    int rc;

    if (custom_check_open(r->custom, err) != 0 ||
        (all = results_load(r->folder->path, RESULTS_ALL, err)) == NULL)
        return -1;
    rc = add_named(r, list, all, &b, err);
    if (rc == 0)
        rc = custom_end(&b, ids, err);
    custom_drop(&b);
    results_free(all);
    return rc;
}

/* ---- all that failed ---- */

/* By their parameters, the last trial that had them: JSON text -> its number,
 * and one. */
static int
note_last(struct map *last, const char *parameters, uint64_t number)
{
    size_t len = strlen(parameters);

    if (number + 1 <= (uintptr_t)map_get(last, parameters, len))
        return 0;
    return map_put(last, parameters, len, (void *)(uintptr_t)(number + 1));
}

/* Moves them to the front; returns how many they are. */
static size_t
pick(struct results *all, const struct map *last)
{
    size_t n = 0;

    for (size_t i = 0; i < all->n; i++) {
        struct result one = all->items[i];

        if (!trial_is_failure(trial_state_of(one.status)) ||
            (uintptr_t)map_get(last, one.parameters, strlen(one.parameters)) !=
                number_of(one.trial) + 1)
            continue;
        all->items[i] = all->items[n];
        all->items[n++] = one;
    }
    return n;
}

static int
note_all(struct map *last, const struct repeat *r, const struct results *all,
         struct err *err)
{
    int rc = 0;

    for (const struct trial *t = r->live->first; t != NULL && rc == 0;
         t = t->next)
        rc = note_last(last, t->parameters, t->number);
    for (size_t i = 0; i < all->n && rc == 0; i++)
        rc = note_last(last, all->items[i].parameters,
                       number_of(all->items[i].trial));
    return rc == 0 ? 0 : err_set(err, ERR_MEMORY, "out of memory");
}

int
repeat_failed(struct repeat *r, struct json_writer *ids, size_t *n,
              struct err *err)
{
    struct custom_batch b = custom_begin(r->custom);
    struct map last = {0};
    struct results *all;
    int rc;

    *n = 0;
    if (custom_check_open(r->custom, err) != 0 ||
        (all = results_load(r->folder->path, RESULTS_ALL, err)) == NULL)
        return -1;
    rc = note_all(&last, r, all, err);
    if (rc == 0)
        *n = pick(all, &last);
    for (size_t i = 0; rc == 0 && i < *n; i++)
        rc = custom_add(&b, all->items[i].parameters, SOURCE_REPEATED, err);
    if (rc == 0)
        rc = custom_end(&b, ids, err);
    custom_drop(&b);
    map_fini(&last);
    results_free(all);
    return rc;
}

int
repeat_all(struct repeat *r, struct err *err)
{
    struct json_writer w;
    struct buf ids;
    size_t n;
    int rc;

    buf_init(&ids, IDS_MAX);
    w = json_begin(&ids);
    rc = repeat_failed(r, &w, &n, err);
    if (rc == 0)
        progress_say(r->progress,
                     "tunepipe: %zu trials that failed run again%s%s", n,
                     n > 0 ? ": " : "", buf_text(&ids));
    buf_fini(&ids);
    return rc;
}
