/* SPDX-License-Identifier: MIT */
/* tuner.h - a tuner as the dispatcher holds it: loaded, configured, and every
 * call checked, so that nothing a plugin returns has to be looked at twice.
 *
 * One thread at a time, as the plugin; calls go straight into the plugin and
 * take as long as it takes.  Failures of the plugin are ERR_PLUGIN, named
 * "tuner NAME: CALLBACK: what it said"; the object stays usable. */
#ifndef PLUGIN_TUNER_H
#define PLUGIN_TUNER_H

#include "json.h"
#include "tunepipe/tuner.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;
struct host_listener;
struct log;
struct objectives;
struct plugin;
struct plugin_paths;
struct space;
struct tuner;
struct unpack;

/* `name` is a name or a file (see paths.h), `args` an object or null: the
 * arguments, `seed` what is used when they hold none.  `log` is borrowed until
 * tuner_free(); the rest is not kept. */
struct tuner *tuner_new(const struct plugin_paths *paths, const char *name,
                        struct jval args, uint64_t seed, const struct log *log,
                        struct err *err);
void tuner_free(struct tuner *t);

/* Tells the tuner what results are judged by, borrowed until tuner_free();
 * before tuner_space(), and at most once.  From then on the `value` of what it
 * is told is made of several (scalar.h), or is the one objective's where there
 * is one and no limit; log, which may be NULL, is told in a line when that is
 * all that the tuner takes.  -1: it cannot take so many (ERR_CONFIG). */
int tuner_objectives(struct tuner *t, const struct objectives *o,
                     const struct log *log, struct err *err);

/* Puts a filter around the tuner and the filters it has: it comes first from
 * now on.  Before tuner_space(); its random numbers have the tuner's seed.
 * Failures of a filter in the calls below read "filter NAME: CALLBACK: what it
 * said".  -1: as tuner_new(), t is as before. */
int tuner_wrap(struct tuner *t, const struct plugin_paths *paths,
               const char *name, struct jval args, const struct log *log,
               struct err *err);

/* The plugin of the i-th filter, the outermost first; NULL: there are no
 * more. */
const struct plugin *tuner_filter(const struct tuner *t, size_t i);

/* Appends what tuner_describe() does, for each filter, as one JSON array in the
 * order in which they are called. */
void tuner_describe_filters(const struct tuner *t, struct buf *out);

/* From now on `listener`, borrowed, is told what the tuner and its filters say
 * of their answers; see host.h. */
void tuner_listen(struct tuner *t, const struct host_listener *listener);

/* The loaded plugin, with name and version; borrowed. */
const struct plugin *tuner_plugin(const struct tuner *t);

/* The seed in use: that of the arguments, or the one given to tuner_new(). */
uint64_t tuner_seed(const struct tuner *t);
/* The text of an argument, as arguments_text(). */
const char *tuner_argument(const struct tuner *t, const char *name);

/* Appends {"name", "version", "file" (without its folder), "seed" (the one in
 * use), "arguments" (all, with defaults)} as one JSON object. */
void tuner_describe(const struct tuner *t, struct buf *out);

/* Gives the tuner a search space, borrowed until the next tuner_space() that
 * succeeded, or tuner_free(), has returned.  When the tuner refuses it, it is
 * not kept: the tuner is given the space before it again and goes on with that;
 * without one (or when it refuses that, too) ask, tell and ended fail until a
 * tuner_space() has succeeded. */
int tuner_space(struct tuner *t, const struct space *space, struct err *err);

/* Asks for a suggestion.  TP_OK: x (n_dims long) holds a point that
 * space_check() has passed, and *label, when the tuner chose one, a text the
 * caller frees, else NULL. TP_LATER and TP_DONE are no errors; TP_ERR is -1. */
int tuner_ask(struct tuner *t, uint64_t id, double *x, char **label,
              struct err *err);

/* What the last tuner_ask() that was TP_OK said beside the point; lent until
 * the next call. */
struct tuner_terms {
    bool own; /* the suggestion is the plugin's, and not what a filter put in
                 the place of a refusal, of which the plugin knows nothing */
    double budget; /* 0: none; else finite and positive */
    /* The earlier suggestion that it goes on from, or TP_NO_ID. */
    uint64_t from;
    int from_how;               /* enum tp_from */
    const struct extra *extras; /* demands.h */
    size_t n_extras;
};
const struct tuner_terms *tuner_terms(const struct tuner *t);

/* Whether the tuner is an advisor, which decides how long trials run: it has a
 * `metric`. */
bool tuner_advises(const struct tuner *t);

/* Tells an advisor an intermediate result, of which as much need be set as of
 * a result.  *out becomes its verdict, whose decision is TP_GO to TP_FINISH;
 * -1: TP_GO. */
int tuner_metric(struct tuner *t, uint64_t id, const double *x,
                 const struct tp_metric *metric, struct tp_verdict *out,
                 struct err *err);

/* Takes the next decision that the plugin has made with host->decide(), in
 * their order; false: there is none.  `decision` is TP_STOP to TP_RELEASE, id
 * whatever the plugin gave. */
bool tuner_next_decision(struct tuner *t, uint64_t *id, int *decision);

/* Tells a result; result->_struct_size and, where there are `values` and
 * tuner_objectives() was called, result->value need not be set. */
int tuner_tell(struct tuner *t, uint64_t id, const double *x,
               const struct tp_result *result, struct err *err);

/* Tells the end of a trial; `how` is an enum tp_ended_how. */
int tuner_ended(struct tuner *t, uint64_t id, const double *x, int how,
                struct err *err);

/* Tells how many trials there are to be; 0: no limit.  A tuner that does not
 * want to know is not told. */
int tuner_plan(struct tuner *t, uint64_t trials, struct err *err);

/* Scores points, as struct tp_tuner says: only where
 * tuner_plugin(t)->tuner.score is set.  The points have passed
 * space_check(). */
int tuner_score(struct tuner *t, const double *const *points, size_t n,
                double *out, struct err *err);

/* Appends the state of the tuner and its filters.  1; 0: nothing, because one
 * of them has no save() or there is no search space: it is to be replayed; -1:
 * failed (ERR_PLUGIN, ERR_MEMORY), or out is full.  out keeps its length but
 * for 1. */
int tuner_save(struct tuner *t, struct buf *out, struct err *err);

/* Reads what tuner_save() of a tuner with the same name, version, arguments,
 * seed, filters and search space appended; right after the first tuner_space().
 * -1: err tells what does not fit or went wrong (ERR_PLUGIN); t may be half
 * loaded, and only tuner_free() is of use. */
int tuner_load(struct tuner *t, struct unpack *state, struct err *err);

/* While barred every call fails, and reaches neither the plugin nor a filter:
 * for a command that ended the process before. */
void tuner_bar(struct tuner *t, bool barred);

#endif
