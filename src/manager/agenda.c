/* SPDX-License-Identifier: MIT */
#include "manager/agenda.h"

#include "core/err.h"
#include "manager/metrics.h"

#include <stdlib.h>
#include <string.h>

struct agenda_item {
    struct agenda_item *next;
    struct agenda_item *last; /* of the list; in its first item alone */
    struct metric_line metric;
    char json[];
};

int
agenda_add(struct agenda *a, const struct metric_line *metric, struct err *err)
{
    struct agenda_item **link = metric->final ? &a->finals : &a->reports;
    struct agenda_item *item = malloc(sizeof *item + metric->len);

    if (item == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    item->next = NULL;
    item->metric = *metric;
    memcpy(item->json, metric->json, metric->len);
    item->metric.json = item->json;
    if (*link != NULL)
        (*link)->last->next = item;
    else
        *link = item;
    (*link)->last = item;
    return 0;
}

bool
agenda_has_reports(const struct agenda *a)
{
    return a->reports != NULL;
}

static bool
next(struct agenda_item **first, agenda_take *take, void *ctx)
{
    struct agenda_item *item = *first;

    if (item == NULL)
        return false;
    *first = item->next;
    if (item->next != NULL)
        item->next->last = item->last;
    take(ctx, &item->metric);
    free(item);
    return true;
}

bool
agenda_next_report(struct agenda *a, agenda_take *take, void *ctx)
{
    return next(&a->reports, take, ctx);
}

bool
agenda_next_final(struct agenda *a, agenda_take *take, void *ctx)
{
    return next(&a->finals, take, ctx);
}

static void
clear(struct agenda_item **first)
{
    while (*first != NULL) {
        struct agenda_item *after = (*first)->next;

        free(*first);
        *first = after;
    }
}

void
agenda_clear(struct agenda *a)
{
    clear(&a->reports);
    clear(&a->finals);
}
