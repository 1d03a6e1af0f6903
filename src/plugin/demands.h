/* SPDX-License-Identifier: MIT */
/* demands.h - what a tuner asks of its host besides what its callbacks return:
 * further parameters for the trial it suggests (host->extra), and decisions on
 * other trials (host->decide).  The host's; one thread at a time. */
#ifndef PLUGIN_DEMANDS_H
#define PLUGIN_DEMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXTRA_KEY_MAX 255 /* bytes */
#define EXTRA_TEXT_MAX 65536
#define EXTRAS_MAX 64 /* for one suggestion */

struct extra {
    char *key, *text;
};

struct demanded {
    uint64_t id;
    int decision; /* enum tp_decision */
};

struct demands {
    bool takes_extras, takes_decisions; /* in the call that is under way */
    struct extra *extras;
    size_t n_extras, extras_cap;
    struct demanded *decisions;
    size_t n_decisions, decisions_cap, at; /* those before `at` were taken */
    char fault[160]; /* what was wrong with one of this call; "" */
};

/* A zeroed struct demands is an empty one. */
void demands_fini(struct demands *w);

/* A call begins that may make such demands, or makes none that count.  Extras
 * of the call before are forgotten where new ones may come. */
void demands_open(struct demands *w, bool extras, bool decisions);
void demands_close(struct demands *w);

/* Copies both; what is wrong goes into w->fault. */
void demands_extra(struct demands *w, const char *key, const char *text);
void demands_decide(struct demands *w, uint64_t id, int decision);

/* The next decision, in the order in which they were made; false: all were
 * taken. */
bool demands_next(struct demands *w, struct demanded *out);

#endif
