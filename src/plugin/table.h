/* SPDX-License-Identifier: MIT */
/* table.h - a plugin's table, checked, copied and completed. */
#ifndef PLUGIN_TABLE_H
#define PLUGIN_TABLE_H

struct err;
struct plugin;

/* Fills p (kind and file are set) from what the registration function
 * returned.  -1: err names file and member; p->args may have been set. */
int table_adopt(struct plugin *p, const void *theirs, struct err *err);

#endif
