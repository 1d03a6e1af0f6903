/* SPDX-License-Identifier: MIT */
/* custom.h - trials whose parameters no tuner suggested: the user's own, and
 * through repeat.h those that run once more.  They are put into the queue,
 * nothing is started here; the dispatcher is told of them in AD, so that the
 * tuner learns from their results.  Inside src/manager only; one thread. */
#ifndef MANAGER_CUSTOM_H
#define MANAGER_CUSTOM_H

#include "core/buf.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct coordinator;
struct err;
struct exchange;
struct experiment;
struct experiment_end;
struct experiment_folder;
struct launch;
struct live;
struct placing;
struct progress;
struct publish;
struct scheduler;
struct space;
struct trial;

/* parameter_source of a trial that the user wants once more, and of one with
 * parameters of his own, as NNI's managers call it. */
#define SOURCE_REPEATED "again"
#define SOURCE_CUSTOM "customized"

struct custom {
    const struct experiment *x;
    const struct experiment_folder *folder;
    const struct launch *launch;
    struct coordinator *coordinator;
    struct scheduler *scheduler;
    struct live *live;
    struct placing *placing;
    struct exchange *exchange;
    struct publish *publish;
    struct progress *progress;
    const struct experiment_end *end;
};

/* Appends set i of the configuration's `enqueue`, whose parameter_id is i:
 * what it lacks is drawn by the seed of its trial. */
int custom_write_enqueued(const struct experiment *x, const struct space *space,
                          uint64_t seed, size_t i, struct buf *out,
                          struct err *err);
/* Appends the record of a trial in AD; the id is JSON text. */
void custom_write_record(struct buf *out, const char *id, const char *source,
                         const char *parameters);

/* What is begun at once, or not at all. */
struct custom_batch {
    struct custom *of;
    struct trial *first, *last; /* by `next` */
    size_t n;
    uint64_t id;     /* the next parameter_id */
    const char *tag; /* by which it is known if it is added again, or NULL */
};

/* -1: no trial can be added. */
int custom_check_open(const struct custom *c, struct err *err);

/* A batch, to which trials are added, each with its parameters, JSON on one
 * line.  custom_end() begins all of them, on top of maxTrialNumber, and appends
 * their ids to `ids`, as members of an array; -1: none, because the greater
 * limit or they themselves cannot be kept.  custom_drop() is called in any
 * case. */
struct custom_batch custom_begin(struct custom *c);
int custom_add(struct custom_batch *b, const char *parameters,
               const char *source, struct err *err);
int custom_end(struct custom_batch *b, struct json_writer *ids,
               struct err *err);
void custom_drop(struct custom_batch *b);

/* The user adds trials: `list`, an array of sets of parameters, all of them or,
 * -1, none.  What a set lacks is drawn from the prior by the seed that its
 * trial has.  Their ids are appended to `ids`, as members of an array. `again`:
 * the same was said before, under this tag, and perhaps done: once is enough.
 */
int custom_trials(struct custom *c, struct jval list, const char *tag,
                  bool again, struct json_writer *ids, struct err *err);

/* The dispatcher has accepted the search space: begins what no manager has
 * begun yet of the configuration's `enqueue`, within maxTrialNumber, set i with
 * the parameter_id i; and of what a user added and its manager kept. */
void custom_begin_rest(struct custom *c);

/* Tells the dispatcher once more of the user's trials that live. */
void custom_tell_again(struct custom *c);

#endif
