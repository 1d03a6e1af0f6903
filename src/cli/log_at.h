/* SPDX-License-Identifier: MIT */
/* log_at.h - `tunepipe log LOG --at N`. */
#ifndef CLI_LOG_AT_H
#define CLI_LOG_AT_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/* Prints how the session stood; `plugin_path` as in paths.h. */
int log_at(const char *log, uint64_t at, const char *plugin_path, bool json,
           struct err *err);

#endif
