/* SPDX-License-Identifier: MIT */
/* serve.h - one process from which wrappers are forked, since that costs an
 * eighth of a program's start. */
#ifndef WRAPPER_SERVE_H
#define WRAPPER_SERVE_H

/* Takes orders from the socket that is standard input, until its end, and makes
 * a process for each, a child not of this one but of who ordered it.  Returns
 * in those alone: *argc and *argv are then what was ordered, its environment
 * too, and standard error is the trial's.  The last of the arguments that it is
 * called with is room for what ps(1) shows of them. */
void serve(int *argc, char ***argv);

#endif
