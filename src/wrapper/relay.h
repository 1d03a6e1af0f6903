/* SPDX-License-Identifier: MIT */
/* relay.h - the manager's answers to a trial on another machine than its own:
 * from TRIAL_ANSWERED, a file, to the FIFO TRIAL_ANSWERS, as no FIFO reaches
 * from one machine to another. */
#ifndef WRAPPER_RELAY_H
#define WRAPPER_RELAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct relay {
    int dir_fd;        /* the trial's folder; borrowed */
    const char *alive; /* TRIAL_ALIVE's path; borrowed */
    bool there;        /* it was at the last look */
    int fifo;          /* -1: not open, nobody answers */
    off_t at;          /* so much of the file is passed on */
    off_t reported;    /* what the trial had reported at the last look, */
    int64_t grown_ms;  /* and since when */
    int64_t alive_ns;  /* when the manager was alive, by its file's time, */
    int64_t seen_ms;   /* and by ours */
    int64_t looked_ms;
};

void relay_begin(struct relay *r, int dir_fd, const char *alive);
/* Passes on what has come; returns after how many ms it is to be called again:
 * 50 behind a report, else 200, and 1000 where no trial waits. */
int relay_step(struct relay *r);
void relay_end(struct relay *r);

#endif
