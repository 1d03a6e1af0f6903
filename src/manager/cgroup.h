/* SPDX-License-Identifier: MIT */
/* cgroup.h - control groups that keep trials to their memory: a group for the
 * experiment below the manager's own, and one for each trial in it, where the
 * system lets us make any.  One thread. */
#ifndef MANAGER_CGROUP_H
#define MANAGER_CGROUP_H

#include <stddef.h>
#include <stdint.h>

struct err;

#define CGROUP_PATH_MAX 512

struct cgroup {
    int version;                  /* 1 or 2; 0: none */
    char folder[CGROUP_PATH_MAX]; /* of the experiment */
};

/* Makes that of the experiment, or takes what is left of it; -1: there cannot
 * be one, and why. */
int cgroup_open(struct cgroup *g, const char *name, struct err *err);
void cgroup_close(struct cgroup *g);

/* Makes the group NAME in it with so much memory, and no swap; its folder into
 * `out`. */
int cgroup_make(const struct cgroup *g, const char *name, uint64_t limit,
                char out[CGROUP_PATH_MAX], struct err *err);

/* Nobody is in it any more; its wrapper may have done so already. */
void cgroup_remove(const char *folder);

/* Lowers the two to what the groups around us leave. */
void cgroup_bound(uint64_t *total, uint64_t *available);

#endif
