/* SPDX-License-Identifier: MIT */
/* schema.h - a JSON Schema (draft 2020-12) of the configuration, made from the
 * table that it is read by. */
#ifndef CONFIG_SCHEMA_H
#define CONFIG_SCHEMA_H

struct buf;

/* Appends the schema, with line ends between its properties. */
void schema_write(struct buf *out);

#endif
