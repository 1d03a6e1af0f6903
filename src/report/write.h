/* SPDX-License-Identifier: MIT */
/* write.h - pieces of the report's JSON.  Inside src/report only. */
#ifndef REPORT_WRITE_H
#define REPORT_WRITE_H

#include "report/report.h"

#include <stdint.h>

struct buf;
struct json_writer;

/* A member that is an object or an array, without blanks inside. */
struct json_writer write_object(struct json_writer *w, const char *key);
struct json_writer write_list(struct json_writer *w, const char *key);

/* What JSON cannot say is a text: "NaN", "Infinity", "-Infinity". */
void write_value(struct buf *out, double value);

/* The same with so many significant digits. */
void write_short(struct buf *out, double value, int digits);

/* Seconds since the experiment began, to the millisecond; null for 0. */
void write_moment(struct buf *out, const struct report *r, int64_t us);

void write_names(struct json_writer *w, const char *key,
                 const struct columns *names);

/* "trials": the columns of write_trials.c. */
void write_trials(struct json_writer *w, const struct report *r);

#endif
