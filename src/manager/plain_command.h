/* SPDX-License-Identifier: MIT */
/* plain_command.h - what can be told of a command for a shell without one: that
 * it only names a program and its arguments, so that no shell is needed to run
 * it, and that it is one of NNI's.  One thread. */
#ifndef MANAGER_PLAIN_COMMAND_H
#define MANAGER_PLAIN_COMMAND_H

#include <stdbool.h>

/* The command's words, to be freed, in one piece: a program that is there, from
 * the folder `cwd` or along PATH in `env`, and its arguments.  NULL: a shell
 * has to see to it, or to say what is wrong with it.  As make(1) does it. */
char **plain_command(const char *command, const char *cwd, char *const env[]);

/* Whether the command, or a file that it names from the folder `cwd`, speaks of
 * NNI or of its parameter.cfg. */
bool plain_command_is_nni(const char *command, const char *cwd);

#endif
