/* SPDX-License-Identifier: MIT */
/* assessor_orders.h - orders of calls that tunepipe/assessor.h allows. */
#ifndef CHECK_ASSESSOR_ORDERS_H
#define CHECK_ASSESSOR_ORDERS_H

struct calls_setup;
struct err;

/* As tuner_orders(). */
int assessor_orders(const struct calls_setup *setup, struct err *err);

/* Only one of them: see the letters in assessor_orders.c. */
int assessor_order(const struct calls_setup *setup, const char *order,
                   struct err *err);

#endif
