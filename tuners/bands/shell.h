/* SPDX-License-Identifier: MIT */
/* shell.h - what the tuners with brackets say to the host; for the shells
 * around algorithms. */
#ifndef TUNERS_BANDS_SHELL_H
#define TUNERS_BANDS_SHELL_H

#include "bands/bands.h"
#include "tunepipe/tuner.h"

#define BANDS_LABEL_SIZE 96

/* Warns of budgets so near to each other that nothing is ever promoted; `max`
 * is what the argument with the greatest is called. */
void bands_warn(const struct tp_host *host, const struct bands_table *table,
                const char *max);

/* options->release, with the host as ctx. */
void bands_release(void *host, uint64_t id);

/* The bracket as NNI writes it: "0-3", the count of hyperbands and s. */
void bands_name(const struct bands_job *job, char out[BANDS_LABEL_SIZE]);

/* Budget and origin of the job. */
void bands_suggest(const struct bands_job *job, struct tp_suggestion *out);

/* Says where the job stands, and if it was promoted, why. */
void bands_explain(const struct bands_job *job, const struct tp_host *host);

/* What comes of a trial that has used its budget. */
void bands_verdict(const struct bands_job *job, const struct tp_host *host,
                   double value, struct tp_verdict *out);

#endif
