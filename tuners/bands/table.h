/* SPDX-License-Identifier: MIT */
/* table.h - the brackets of Hyperband: how many configurations run in which
 * round, and for how long.
 *
 * L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh, A. Talwalkar: "Hyperband:
 * A Novel Bandit-Based Approach to Hyperparameter Optimization", JMLR 18,
 * 2018, algorithm 1, with the rounding of NNI's advisors, whose tables these
 * are:
 *
 *     s_max = floor(log_eta(max / min) + e)         e = 1e-6
 *     n     = ceil((s_max + 1) eta^s / (s + 1) - e) of bracket s
 *     n_i   = floor(n / eta^i + e)                  of round i = 0 .. s
 *     r_i   = floor(max / eta^(s - i) + e)          at least 1
 *
 * In integers, so that no C library has a say.  Any thread, nothing fails. */
#ifndef TUNERS_BANDS_TABLE_H
#define TUNERS_BANDS_TABLE_H

#include <stdint.h>

#define BANDS_BUDGET_MAX 1000000000
#define BANDS_ETA_MIN 2
#define BANDS_ETA_MAX 1000000

struct bands_table {
    uint64_t max, eta;
    unsigned s_max; /* at most 29 */
};

/* 1 <= min <= max <= BANDS_BUDGET_MAX: budgets, in intermediate results; eta:
 * BANDS_ETA_MIN to BANDS_ETA_MAX. */
struct bands_table bands_table(uint64_t min, uint64_t max, uint64_t eta);

/* n_i.  round <= s <= s_max. */
uint64_t bands_table_count(const struct bands_table *t, unsigned s,
                           unsigned round);

/* r_i.  Budgets of all brackets are the same s_max + 1 numbers. */
uint64_t bands_table_budget(const struct bands_table *t, unsigned s,
                            unsigned round);

#endif
