/* SPDX-License-Identifier: MIT */
/* spawn.h - what all processes that the manager starts have in common.  One
 * thread. */
#ifndef MANAGER_SPAWN_H
#define MANAGER_SPAWN_H

#include <spawn.h>
#include <sys/types.h>

struct err;

/* Signals of a child: `blocked` alone is blocked (0: none), all else as at a
 * login. */
void spawn_signals(posix_spawnattr_t *attr, int blocked, short flags);

int spawn_start(const char *program, posix_spawn_file_actions_t *files,
                const posix_spawnattr_t *attr, char *const argv[],
                char *const env[], pid_t *pid, struct err *err);

/* On failure the process is killed and waited for. */
int spawn_pidfd(pid_t pid, int *out, struct err *err);

#endif
