/* SPDX-License-Identifier: MIT */
/* status.h - the state of a running experiment and its trials, as JSON: what
 * `tunepipe status` and `tunepipe top` show.  Inside src/manager only. */
#ifndef MANAGER_STATUS_H
#define MANAGER_STATUS_H

#include <stdint.h>

struct buf;
struct manager;

/* Appends {"experiment", "folder", "pid", "state", "concurrency", "max_trials",
 * "max_duration_s", "elapsed_s", "done", "running", "waiting", "failed",
 * "stopped", "timed_out", "cancelled", "paused", "interrupted",
 * "optimize_mode", "best": {"trial", "value"}, "trials": [...]}; the limits and
 * best may be null.  Of the live trials, in their order, at most `rows`:
 * {"trial", "attempt", "status", "latest", "reports", "elapsed_s", "recent":
 * [values, oldest first], "parameters"}. */
void status_write(const struct manager *m, uint64_t rows, struct buf *out);

#endif
