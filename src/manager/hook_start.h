/* SPDX-License-Identifier: MIT */
/* hook_start.h - one call of a hook, and its process.  Inside src/manager
 * only.  One thread. */
#ifndef MANAGER_HOOK_START_H
#define MANAGER_HOOK_START_H

#include "config/eventname.h"

#include <stddef.h>
#include <sys/types.h>

struct err;
struct event;

/* What a hook is told. */
struct hook_call {
    enum event_name name;
    char *json; /* NUL-terminated */
    size_t len;
    char *trial;    /* NULL: none */
    char value[40]; /* "": none */
};

/* A copy; -1: out of memory. */
int hook_call_init(struct hook_call *c, const struct event *e);
void hook_call_fini(struct hook_call *c);

struct hook_start {
    const char *command; /* for /bin/sh -c */
    const char *cwd, *experiment_folder;
    const char *program_folder; /* may be NULL */
    int log_fd;                 /* its standard output and error */
};

/* In a process group of its own. */
int hook_start(const struct hook_start *how, const struct hook_call *what,
               pid_t *pid, int *pidfd, struct err *err);

#endif
