/* SPDX-License-Identifier: MIT */
/* A program that tunes a function of its own, (x - 3)^2 + y:
 *
 *   cc study.c $(pkg-config --cflags --libs tunepipe-study)
 *   ./a.out FOLDER study.yml && tunepipe show FOLDER */
#include <stdio.h>
#include <tunepipe/study.h>

/* Tells the function's value at the trial's parameters. */
static int
run(struct tp_study *study, struct tp_trial *trial)
{
    long number = tp_trial_number(trial), y;
    double x;

    if (tp_trial_double(trial, "x", &x) != 0 ||
        tp_trial_long(trial, "y", &y) != 0)
        return tp_study_fail(study, number, tp_study_why(study));
    return tp_study_tell(study, number, (x - 3) * (x - 3) + (double)y);
}

int
main(int argc, char **argv)
{
    struct tp_study *study;
    struct tp_trial *trial;
    char why[200];
    int rc;

    if (argc != 3)
        return 2;
    if (tp_study_open(&study, argv[1], argv[2], why, sizeof why) != 0) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    while ((rc = tp_study_ask(study, &trial)) == 0) {
        rc = run(study, trial);
        tp_trial_free(trial);
        if (rc != 0)
            break;
    }
    if (rc != TP_STUDY_OVER) /* which is how it should end */
        fprintf(stderr, "%s\n", tp_study_why(study));
    tp_study_close(study);
    return rc != TP_STUDY_OVER;
}
