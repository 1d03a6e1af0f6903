/* SPDX-License-Identifier: MIT */
/* value.h - a trial's result in a client's request: what is no number in JSON
 * goes as one of the texts NaN, Infinity and -Infinity.  Any thread. */
#ifndef CLIENT_VALUE_H
#define CLIENT_VALUE_H

struct err;
struct json_writer;

void value_add(struct json_writer *w, const char *key, double value);

/* Adds a value that is given as text: one of these words, or JSON, of which the
 * server says whether it is a number or an object that has one as "default".
 * -1: it is neither, nothing is added. */
int value_add_text(struct json_writer *w, const char *key, const char *text,
                   struct err *err);

#endif
