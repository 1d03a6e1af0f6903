/* SPDX-License-Identifier: MIT */
/* nni_figures.h - for benchmarks: what NNI's dispatcher was measured to do.
 *
 * NNI 2.7, the last whose manager uses descriptors 3 and 4, without a manager:
 * Python 3.11.2, Debian 12, two shared cores, November 2026; medians of three
 * runs, the same messages and search space as in nni.c.  The points of 5,000
 * trials came in one FD. */
#ifndef TESTS_BENCH_NNI_FIGURES_H
#define TESTS_BENCH_NNI_FIGURES_H

/* From spawn to ID: seconds, of CPU time, and MB of peak memory. */
static const struct {
    const char *tuner;
    bool assessor;
    double seconds, cpu, mb;
} nni_starts[] = {
    {"Random", false, 0.90, 0.71, 80},   {"TPE", false, 2.2, 0.91, 91},
    {"TPE", true, 1.5, 0.95, 91},        {"Anneal", false, 1.5, 0.85, 101},
    {"Evolution", false, 1.3, 0.76, 80}, {"GridSearch", false, 1.4, 0.74, 91},
};

static const double nni_pings = 31400; /* a second, in a burst of 20,000 */

/* PERIODICAL through Medianstop, a second. */
static const struct {
    uint64_t completed, running, steps;
    double rate;
} nni_metrics[] = {
    {10, 50, 20, 1850},
    {100, 100, 50, 1920},
    {10, 5, 400, 1640},
};

static const double nni_kill_ms = 1.55; /* from a bad metric to its KI */

/* Trial after trial, 13 messages each, a second. */
static const struct {
    const char *tuner;
    double rate;
} nni_loops[] = {{"Random", 1370}, {"TPE", 910}};

static const double nni_stop_ms = 2700; /* from TE to the end, idle */

/* From GE 1 to its TR, ms, by trials before; MB of memory at the end; what the
 * FD took (0: was not measured). */
#define NNI_POINTS 4
static const uint64_t nni_points[NNI_POINTS] = {10, 100, 1000, 5000};
static const struct {
    const char *tuner, *args;
    double ms[NNI_POINTS], mb, import_ms;
} nni_suggestions[] = {
    {"Random", "{}", {1.1, 1.1, 1.0, 1.1}, 84, 0},
    {"GridSearch", "{}", {1.7, 1.6, 1.8, 1.5}, 97, 0},
    {"Evolution", "{\"population_size\":100}", {1.2, 1.5, 1.4, 1.1}, 84, 0},
    {"TPE", "{}", {1.3, 6.2, 25.6, 71}, 110, 2700},
    {"Anneal", "{}", {3.9, 4.8, 14.1, 85}, 131, 6200},
};

#endif
