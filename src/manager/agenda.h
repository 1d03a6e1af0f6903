/* SPDX-License-Identifier: MIT */
/* agenda.h - in lock step: what one trial has reported and nobody was told
 * yet.  Intermediate results in their order; final ones apart, since a trial's
 * other results come before them, whatever files they stand in.  One thread. */
#ifndef MANAGER_AGENDA_H
#define MANAGER_AGENDA_H

#include <stdbool.h>

struct agenda_item;
struct err;
struct metric_line;

/* A zeroed one is empty. */
struct agenda {
    struct agenda_item *reports, *finals;
};

/* Copies. */
int agenda_add(struct agenda *a, const struct metric_line *metric,
               struct err *err);
bool agenda_has_reports(const struct agenda *a);

/* Takes the next one out and hands it to `take`; false: there is none. */
typedef void agenda_take(void *ctx, const struct metric_line *metric);
bool agenda_next_report(struct agenda *a, agenda_take *take, void *ctx);
bool agenda_next_final(struct agenda *a, agenda_take *take, void *ctx);

void agenda_clear(struct agenda *a);

#endif
