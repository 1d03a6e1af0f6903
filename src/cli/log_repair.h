/* SPDX-License-Identifier: MIT */
/* log_repair.h - `tunepipe log LOG --repair NEWFILE`. */
#ifndef CLI_LOG_REPAIR_H
#define CLI_LOG_REPAIR_H

#include <stdbool.h>

struct err;

/* Prints what is kept and what is lost, a line each. */
int log_repair(const char *log, const char *to, bool json, struct err *err);

#endif
