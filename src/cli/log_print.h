/* SPDX-License-Identifier: MIT */
/* log_print.h - a record as a line on stdout. */
#ifndef CLI_LOG_PRINT_H
#define CLI_LOG_PRINT_H

#include <stdint.h>
#include <stdio.h>

struct err;
struct record;

/* Prints a record's payload in one line, fit for a terminal. */
void log_print_payload(const struct record *r, FILE *out);

void log_print_plain(const struct record *r);
int log_print_json(const struct record *r, uint64_t segment, uint64_t offset,
                   struct err *err);

#define LOG_TIME_MAX 48
/* Writes a time as "2026-11-21 19:30:00.000000", local; "?" when it is none. */
const char *log_time(int64_t time_us, char out[LOG_TIME_MAX]);

#endif
