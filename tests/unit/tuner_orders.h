/* SPDX-License-Identifier: MIT */
/* tuner_orders.h - every order of calls that tunepipe/tuner.h allows. */
#ifndef TESTS_UNIT_TUNER_ORDERS_H
#define TESTS_UNIT_TUNER_ORDERS_H

struct plugin;
struct space;

/* Runs the tuner through all of them in the space a (and b, where the space
 * changes), each twice; a check fails when a point is not valid, a callback
 * fails, or the second time gives other bytes. */
void tuner_orders(const struct plugin *p, const struct space *a,
                  const struct space *b);

#endif
