/* SPDX-License-Identifier: MIT */
/* session.h - for benchmarks: one tuner on one instance of a problem, through
 * the pipe.  One thread. */
#ifndef BENCH_SEARCH_SESSION_H
#define BENCH_SEARCH_SESSION_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;

#define SESSION_BUDGET_MAX 100000

struct session {
    const char *program; /* tunepipe */
    const char *plugins; /* a folder */
    const char *label;   /* the tuner's, in the results */
    const char *tuner, *args;
    const char *problem, *family;
    uint64_t seed;
    size_t budget;
    size_t width; /* trials at a time; 1: sequential */
};

/* Appends a line of JSON to `out`, see runs.h.  -1: it did not get to its end;
 * err says why, and the line too. */
int session_run(const struct session *s, FILE *out, struct err *err);

/* How long the trial-th trial of this seed takes, in no unit. */
double session_duration(uint64_t seed, uint64_t trial);

#endif
