/* SPDX-License-Identifier: MIT */
/* check.h - whether a plugin keeps what its header promises, told so that its
 * author can act on it.
 *
 *   load          its file can be loaded and its table is sound
 *   conformance   every kind of space, every order of calls: points are
 *                 valid, nothing lent is changed, failures say why
 *   saving        what was saved, loaded into another object, answers the same;
 *                 damaged, it does no harm
 *   extremes      spaces that overflow or have hardly a point: ask comes back
 *   surroundings  locale, signals, folder, environment stay as they were
 *   leaks         a thousand lives take no more memory than a hundred
 *   latency       CPU time of a call after 10, 1,000 and 10,000 results
 *   determinism   the same calls give the same answers at other addresses, in
 *                 another environment, a second later
 *   output        nothing is printed
 *
 * A filter lies around a tuner that samples the prior (inner.h), and which in
 * conformance also has nothing now, ends and fails; it has to pass on what that
 * tuner gave a point for, and nothing else.
 *
 * Each runs in a child process: whatever the file does harms only that. */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include <stddef.h>
#include <stdint.h>

struct err;

#define CHECK_TEXT_MAX 900
#define CHECK_FINDINGS_MAX 64

enum check_verdict { CHECK_OK, CHECK_WARNING, CHECK_FAILED, CHECK_SKIPPED };
#define CHECK_N_VERDICTS 4

struct check_report {
    char kind[16], name[72]; /* the plugin's; "" when it cannot be loaded */
    struct check_finding {
        const char *check; /* one of the names above */
        enum check_verdict verdict;
        char text[CHECK_TEXT_MAX]; /* one line */
    } findings[CHECK_FINDINGS_MAX];
    size_t n;
    size_t count[CHECK_N_VERDICTS];
};

struct check_options {
    const char *args; /* the plugin's arguments, a JSON object; NULL: its
                         defaults, and something for those without */
    int64_t limit_ms; /* for each check */
};

/* 0 also when the plugin fails every check.  The calling process must have no
 * other threads. */
int check_plugin(const char *file, const struct check_options *options,
                 struct check_report *out, struct err *err);

/* "ok", "warning", "FAILED", "skipped". */
const char *check_verdict_name(enum check_verdict verdict);

#endif
