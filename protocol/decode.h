/* SPDX-License-Identifier: MIT */
/* decode.h - what the files of command.c share: one decoder for each kind of
 * payload.  Internal to protocol/. */
#ifndef PROTOCOL_DECODE_H
#define PROTOCOL_DECODE_H

#include <stdbool.h>
#include <stddef.h>

struct command;
struct err;
struct field;
struct frame;
struct parameter_id;

/* A zeroed command with `tail` bytes behind it, where its strings lie, so that
 * the commonest commands cost one allocation.  NULL: out of memory. */
struct command *decode_new(size_t tail, char **at, struct err *err);

/* Each returns a command without code and arrival; NULL: err tells. */
struct command *decode_metric(const struct frame *frame, struct err *err);
struct command *decode_end(const struct frame *frame, struct err *err);

/* Kind and number of a parameter_id; a label is copied later. */
int decode_parameter(const struct field *f, struct parameter_id *out,
                     struct err *err);

#endif
