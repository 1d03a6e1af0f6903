/* SPDX-License-Identifier: MIT */
/* command.h - for benchmarks: the command that knows a problem's curves, see
 * curves.h.  For curves.c. */
#ifndef BENCH_BUDGETS_COMMAND_H
#define BENCH_BUDGETS_COMMAND_H

struct curves;
struct err;
struct json;

/* -1: err.  command_stop() ends what command_start() started. */
int command_start(struct curves *c, const char *command, struct err *err);
void command_stop(struct curves *c);

/* The next line; NULL: err. */
struct json *command_read(struct curves *c, struct err *err);

/* The curve of a point. */
int command_ask(struct curves *c, const double *x, double *observed,
                struct err *err);

#endif
