/* SPDX-License-Identifier: MIT */
/* oom.h - whether a trial that failed did so for want of memory.  It takes
 * evidence: the kernel's counters, how much it had used, its last words.  One
 * thread. */
#ifndef MANAGER_OOM_H
#define MANAGER_OOM_H

#include <stddef.h>
#include <stdint.h>

struct claim;
struct outcome;
struct wishes;

enum oom { OOM_NOT, OOM_MEMORY, OOM_DEVICE };

/* Of a trial that nobody stopped; `why`: one line. */
enum oom oom_judge(const struct outcome *outcome, const struct claim *claim,
                   const struct wishes *wishes, const char *folder, char *why,
                   size_t size);

/* The most it is known to have needed: bytes. */
uint64_t oom_peak(const struct outcome *outcome);

/* Records it in the attempt's folder (trial/files.h). */
void oom_record(const char *folder, enum oom kind, uint64_t bytes);
/* OOM_NOT: nothing is recorded. */
enum oom oom_recorded(const char *folder, uint64_t *bytes);

#endif
