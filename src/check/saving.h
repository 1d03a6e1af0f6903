/* SPDX-License-Identifier: MIT */
/* saving.h - whether what a plugin saves is what it knows. */
#ifndef CHECK_SAVING_H
#define CHECK_SAVING_H

#include <stdbool.h>

struct calls_setup;
struct err;
struct plugin;
struct spaces;

/* Whether it has save and load. */
bool saving_is_possible(const struct plugin *p);

/* All orders of calls and some random ones, in all spaces, twice: once as they
 * are, once with objects that are saved in between, and loaded into others that
 * take their place; the answers have to be the same.  Then with states that are
 * damaged, which have to be refused or taken without harm.  What was done is
 * counted in plain->seen; the rest of plain is as for tuner_orders().  -1: err
 * tells what went wrong first. */
int saving_check(const struct calls_setup *plain, const struct spaces *spaces,
                 struct err *err);

#endif
