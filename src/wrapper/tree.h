/* SPDX-License-Identifier: MIT */
/* tree.h - all descendants of this process, found and signalled.
 *
 * The wrapper is a child subreaper: a descendant whose parent dies becomes its
 * child, also after setsid(2).  So nothing of a trial can leave the tree below
 * the wrapper, and the tree is empty exactly when wait4(2) says ECHILD. */
#ifndef WRAPPER_TREE_H
#define WRAPPER_TREE_H

#include <stdbool.h>

/* Whether this kernel lists children in /proc (CONFIG_PROC_CHILDREN); tree
 * signals reach nobody without it. */
bool tree_works(void);

/* Sends the signal (and SIGCONT after one that a stopped process would not
 * act upon) to every descendant that was found, the youngest first.
 *
 * Processes that are born, or lose their parent, during the walk may be
 * missed.  Whoever wants the tree to end calls this with SIGKILL once and
 * again after every SIGCHLD until no child is left: a process is only missed
 * when an ancestor of it dies, and the last of its ancestors to die is a child
 * of ours, whose SIGCHLD starts the walk that finds it. */
void tree_signal(int sig);

#endif
