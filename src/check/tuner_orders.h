/* SPDX-License-Identifier: MIT */
/* tuner_orders.h - every order of calls that tunepipe/tuner.h allows. */
#ifndef CHECK_TUNER_ORDERS_H
#define CHECK_TUNER_ORDERS_H

struct calls_setup;
struct err;
struct space;
struct space_to_try;

/* Runs the tuner through all of them in the space a (and b, where the space
 * changes); `title` names a.  -1: err tells which callback did what, where,
 * and what to do.  A tuner may refuse a space. */
int tuner_orders(const struct calls_setup *setup, const char *title,
                 const struct space *a, const struct space *b, struct err *err);

/* Only one of them: see the letters in tuner_orders.c. */
int tuner_order(const struct calls_setup *setup, const char *order,
                const char *title, const struct space *a, const struct space *b,
                struct err *err);

/* A life in a space of spaces_init_extreme(). */
int tuner_extreme(struct calls_setup *setup, const struct space_to_try *at,
                  struct err *err);

#endif
