/* SPDX-License-Identifier: MIT */
/* demands.h - what a tuner asks of its host besides what its callbacks return:
 * further parameters for the trial it suggests (host->extra), and decisions on
 * other trials (host->decide).  The host's; one thread at a time. */
#ifndef PLUGIN_DEMANDS_H
#define PLUGIN_DEMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXTRA_KEY_MAX 255 /* bytes of a name */
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
    /* Whether the call that is under way may make them. */
    bool takes_extras, takes_decisions;
    struct extra *extras;
    size_t n_extras, extras_cap;
    struct demanded *decisions;
    /* Decisions before `at` were taken. */
    size_t n_decisions, decisions_cap, at;
    /* What was wrong with a demand of this call; "": nothing. */
    char fault[160];
};

/* A zeroed struct demands is an empty one. */
void demands_fini(struct demands *w);

/* A call of the plugin begins, or ends, in which demands of these kinds count.
 * Extras of the call before are forgotten where new ones may come. */
void demands_open(struct demands *w, bool extras, bool decisions);
void demands_close(struct demands *w);

/* Notes copies of an extra parameter, or a decision; a mistake goes into
 * w->fault. */
void demands_extra(struct demands *w, const char *key, const char *text);
void demands_decide(struct demands *w, uint64_t id, int decision);

/* Takes the next decision, in the order in which they were made; false: all
 * were taken. */
bool demands_next(struct demands *w, struct demanded *out);

#endif
