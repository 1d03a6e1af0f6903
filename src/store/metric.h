/* SPDX-License-Identifier: MIT */
/* metric.h - what a trial reported, where that is more than a number. */
#ifndef STORE_METRIC_H
#define STORE_METRIC_H

#include <stddef.h>

struct metric;

/* The JSON text it reported, if it is no finite number alone; to be freed.
 * `payload` is that of its ME.  NULL: it is one. */
char *metric_said(const struct metric *m, const char *payload, size_t len);

#endif
