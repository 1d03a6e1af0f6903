/* SPDX-License-Identifier: MIT */
/* write.h - pieces of the report's JSON.  Inside src/report only. */
#ifndef REPORT_WRITE_H
#define REPORT_WRITE_H

#include "report/report.h"

#include <stdint.h>

struct buf;

/* ", " unless it is the first; `i` from 0. */
void write_comma(struct buf *out, size_t i);

/* What JSON cannot say is a text: "NaN", "Infinity", "-Infinity". */
void write_value(struct buf *out, double value);

/* The same with so many significant digits. */
void write_short(struct buf *out, double value, int digits);

/* Seconds since the experiment began, to the millisecond; null for 0. */
void write_moment(struct buf *out, const struct report *r, int64_t us);

void write_names(struct buf *out, const char *key, const struct columns *names);

/* "trials": the columns of write_trials.c. */
void write_trials(struct buf *out, const struct report *r);

#endif
