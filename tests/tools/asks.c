/* SPDX-License-Identifier: MIT */
/* asks FOLDER CONFIG TRIALS [REPORTS]: asks a study for so many trials, one
 * after the other, reports so often and tells x as the result of each: trials
 * that cost no process.  Says after each tenth how many they were, and waits
 * for a line of its input, so that what they leave can be looked at. */
#include "tunepipe/study.h"

#include <stdio.h>
#include <stdlib.h>

static int
play(struct tp_study *study, long reports)
{
    struct tp_trial *trial;
    double x = 0;
    long number;
    int rc = tp_study_ask(study, &trial);

    if (rc != 0)
        return rc;
    number = tp_trial_number(trial);
    rc = tp_trial_double(trial, "x", &x);
    for (long i = 0; rc == 0 && i < reports; i++)
        rc = tp_trial_report(trial, x + 1.0 / (double)(i + 1));
    tp_trial_free(trial);
    if (rc >= 0)
        rc = rc > 0 ? tp_study_end(study, number)
                    : tp_study_tell(study, number, x);
    return rc;
}

int
main(int argc, char **argv)
{
    long trials = argc > 3 ? atol(argv[3]) : 0;
    long reports = argc > 4 ? atol(argv[4]) : 0;
    struct tp_study *study;
    char why[200];
    int rc = 0;

    if (trials < 1) {
        fputs("usage: asks FOLDER CONFIG TRIALS [REPORTS]\n", stderr);
        return 2;
    }
    if (tp_study_open(&study, argv[1], argv[2], why, sizeof why) != 0) {
        fprintf(stderr, "asks: %s\n", why);
        return 1;
    }
    for (long n = 1; n <= trials && rc == 0; n++) {
        rc = play(study, reports);
        if (n * 10 / trials == (n - 1) * 10 / trials)
            continue;
        printf("%ld\n", n);
        fflush(stdout);
        for (int c = getchar(); c != EOF && c != '\n';)
            c = getchar();
    }
    if (rc != 0)
        fprintf(stderr, "asks: %s\n", tp_study_why(study));
    tp_study_close(study);
    return rc != 0;
}
