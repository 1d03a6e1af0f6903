/* SPDX-License-Identifier: MIT */
/* options.h - the wrapper's command line. */
#ifndef WRAPPER_OPTIONS_H
#define WRAPPER_OPTIONS_H

struct options {
    const char *dir, *cwd;   /* borrowed from argv */
    const char *lease;       /* NULL: TRIAL_LEASE in dir */
    const char *node;        /* whose name is told at the end; NULL: none */
    const char *alive;       /* TRIAL_ALIVE's path; NULL: none */
    long grace_ms, adopt_ms; /* 0 to 10^12 */
    const char *cgroup;      /* NULL: none */
    long long limit_bytes;   /* of each process; 0: no limit */
    long long output_bytes;  /* of each output; 0: no limit */
    long long synced;        /* 1: what it leaves is, in any case */
    char **program;          /* NULL-terminated, at least one element */
};

/* Reads the command line.  0, or -1 after one line on stderr. */
int options_parse(struct options *options, int argc, char **argv);

#endif
