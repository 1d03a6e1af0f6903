/* SPDX-License-Identifier: MIT */
/* index_log.h - the log's part of a reading: from behind the record that the
 * database knows to the end.  For index_pass.h.  One thread. */
#ifndef STORE_INDEX_LOG_H
#define STORE_INDEX_LOG_H

struct err;
struct index_pass;
struct index_report;
struct rows;

/* As index_pass_run(), but that nothing is committed. */
int index_log_read(struct index_pass *p, struct rows *rows,
                   struct index_report *out, struct err *err);

#endif
