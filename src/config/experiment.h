/* SPDX-License-Identifier: MIT */
/* experiment.h - an experiment's configuration: NNI's v2 keys and ours, as
 * one typed struct.
 *
 * Every key there is stands in one table (keys.c).  All that is wrong is told
 * at once.  Immutable once read; one owner; any thread may read it. */
#ifndef CONFIG_EXPERIMENT_H
#define CONFIG_EXPERIMENT_H

#include "config/cluster.h"
#include "config/platform.h"
#include "config/wishes.h"
#include "core/log_policy.h"

#include "core/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct problems;
struct err;
struct objectives;

enum early_stopped { STOPPED_IGNORE, STOPPED_LATEST, STOPPED_BEST };
enum metrics_final { FINAL_UNSET, FINAL_LAST, FINAL_NONE };
enum log_wish { LOG_WISH_UNSET, LOG_WISH_LESS, LOG_WISH_INFO, LOG_WISH_DEBUG };

enum failure_then { FAILURE_SKIP, FAILURE_REPORT };
/* What a repeated failure does.  UNSAID: PAUSE where a terminal shows what the
 * manager says, else END. */
enum failure_repeated {
    REPEATED_UNSAID,
    REPEATED_PAUSE,
    REPEATED_END,
    REPEATED_IGNORE
};

/* The key onFailure: what becomes of a trial that failed, is lost or lacked
 * memory. */
struct on_failure {
    uint64_t retry;         /* how often it is tried again */
    int64_t backoff_ms;     /* before the first time; then it doubles */
    enum failure_then then; /* when it was tried so often */
    double value;           /* REPORT: the result that the tuner is told, */
    char *values;           /* and where results are several values, JSON */
};

#define EXPERIMENT_FILTERS_MAX 16
#define EXPERIMENT_HOOKS_MAX 32
#define HOOK_CONCURRENCY_MAX 64

enum checkpoints_keep {
    CHECKPOINTS_LAST,
    CHECKPOINTS_BEST,
    CHECKPOINTS_ALL,
    CHECKPOINTS_NONE
};

/* Which checkpoints are kept; the newest of a trial that has not ended is in
 * any case. */
struct checkpoint_policy {
    enum checkpoints_keep keep;
    uint64_t max;   /* of each trial; 0: one, or, with ALL, no limit */
    uint64_t quota; /* bytes of all trials together; 0: no limit */
};

/* Of which ended trials our files are kept, and how. */
enum keep_files {
    FILES_BY_NUMBER, /* all, and from FILES_PACKED_FROM trials on packed */
    FILES_ALL,
    FILES_PACKED,
    FILES_FAILED, /* packed, of those that failed; the others' are not kept */
    FILES_NONE
};

#define FILES_PACKED_FROM 1000

/* What becomes of what a trial's program wrote beside them. */
enum keep_output { OUTPUT_KEPT, OUTPUT_PACKED, OUTPUT_DROPPED };

struct files_policy {
    enum keep_files files;
    enum keep_output output;
    int64_t drop_ms; /* DROPPED: so long after the trial's end */
};

/* The tuner when none is named. */
#define EXPERIMENT_TUNER "auto"
/* What says which way is better, as `mode_from`: the key `direction`, or
 * nothing, which only a folder from before there was that key may do. */
#define EXPERIMENT_MODE_KEY "the experiment"
#define EXPERIMENT_MODE_UNSAID "the default"

/* A tuner, an assessor or a filter. */
struct algorithm {
    /* Of a plugin; NULL when absent, or when only a file is given. */
    char *name;
    char *plugin;     /* a file, absolute; NULL: one that comes with tunepipe */
    char *class_name; /* "module.Class", of Python; NULL: none */
    char *code_folder; /* the folder that holds the module; absolute */
    char *args; /* classArgs: a JSON object on one line, "{}" when absent */
    char *objective; /* of an assessor: the value that it judges; NULL: the
                        first objective */
    unsigned line; /* of the key `tuner` or `assessor` in the file; 0: absent */
};

/* The plugin's file or name; NULL: it is a Python class. */
const char *algorithm_plugin(const struct algorithm *a);

/* What a trial runs. */
struct command_config {
    char *text;    /* for /bin/sh -c; NULL: none */
    unsigned line; /* of its key in the file */
};

/* A command that is run when something happens. */
struct hook_config {
    char *glob;    /* of names of events, at least one of which it matches */
    char *command; /* for /bin/sh -c */
};

#define EXPERIMENT_PATTERNS_MAX 24

/* A pattern for the lines of a trial's output. */
struct metric_pattern {
    char *name;  /* of the value that it finds; NULL: of the one there is */
    char *regex; /* a checked extended regular expression with a group */
};

/* A set of parameters to try first, of which some may be missing. */
struct enqueued {
    char *parameters; /* JSON, one line */
    unsigned line;    /* in the file */
};

struct experiment {
    char *file;      /* the configuration, absolute */
    char *folder;    /* the folder that holds it: relative paths begin there */
    char *overrides; /* keys that options of `run` gave in place of the file,
                        see overrides.h; NULL: none */
    char *name;      /* experimentName, else the file's name without its end */

    char *search_space;    /* JSON on one line */
    char *space_place;     /* where the space stands, for problems: "e.yml:3" */
    char *space_named;     /* the file there, */
    const char *space_key; /* what follows the line */
    struct map space_lines;    /* of its entries: experiment_space_place() */
    struct enqueued *enqueued; /* ours: tried in this order */
    size_t n_enqueued;
    struct command_config trial_command;
    struct command_config prepare_command; /* ours: before trialCommand */
    uint64_t prepare_concurrency;          /* ours; 0: as many as concurrency */
    uint64_t max_output;    /* bytes of each output; 0: no limit */
    int64_t max_prepare_ms; /* ours; 0: as max_trial_ms */
    char *trial_folder;     /* trialCodeDirectory, absolute */
    char *import; /* ours: a file of finished trials, absolute; NULL: none */
    char *working_folder; /* experimentWorkingDirectory, absolute; default
                             "tunepipe-experiments" beside the file */
    uint64_t concurrency; /* trialConcurrency, >= 1 */
    uint64_t max_trials;  /* maxTrialNumber; 0: no limit */
    int64_t max_experiment_ms, max_trial_ms; /* 0: no limit */
    int64_t max_idle_ms; /* ours: trialIdleTimeout; 0: no limit */
    /* Ours: goals, see manager/goals.h. */
    bool has_stop_value;
    double stop_value;
    uint64_t max_without;   /* maxTrialsWithoutImprovement; 0: no limit */
    double max_trial_hours; /* 0: no limit */
    int64_t place_ms; /* ours: placeTimeout, for a trial that cannot start */

    struct algorithm tuner; /* EXPERIMENT_TUNER when absent */
    bool tuner_overridden;  /* it is not the file's: see overrides.h */
    struct algorithm assessor;
    struct algorithm filters[EXPERIMENT_FILTERS_MAX]; /* ours: around the
                                                         tuner, outermost
                                                         first */
    size_t n_filters; /* the first is that of the key `constraints`, if any */
    struct objectives *objectives; /* ours: several values, or limits on them;
                                      NULL: results are one number */
    char *objectives_json;         /* the same, as objectives_write() does */
    bool minimize; /* direction, else optimize_mode of the tuner, else of the
                      assessor, which say the same where they are told; the
                      direction of the first of the objectives */
    const char *mode_from; /* EXPERIMENT_MODE_KEY, "the tuner", "the assessor"
                              or EXPERIMENT_MODE_UNSAID: maximize */

    uint64_t seed; /* ours; at most INT64_MAX */
    bool has_seed;
    enum early_stopped early_stopped; /* ours; default STOPPED_LATEST */
    struct sync_policy sync;          /* ours: of the command log */
    struct segment_policy segments;   /* ours: of the command log */
    char *log_folder; /* ours: commandLogDirectory, absolute; NULL: the log
                         lies in the experiment's folder */
    int64_t grace_ms; /* ours: between a trial's SIGTERM and its SIGKILL */
    struct metric_pattern patterns[EXPERIMENT_PATTERNS_MAX]; /* ours */
    size_t n_patterns;
    bool last_is_final; /* ours: a trial that ends well without a final
                           result has its last value as such */
    struct checkpoint_policy checkpoints; /* ours */
    struct files_policy files;            /* ours */
    bool deterministic;                   /* ours: trials go in lock step */
    struct on_failure on_failure;
    enum failure_repeated on_repeated; /* ours: the same failure three times */
    struct hook_config hooks[EXPERIMENT_HOOKS_MAX]; /* ours: `on` */
    size_t n_hooks;
    uint64_t hook_concurrency; /* ours: how many run at a time */
    int64_t hook_timeout_ms;   /* how long one may run */
    bool index;                /* ours: a database of results is kept */
    enum platform platform;    /* trainingService.platform */
    struct wishes wishes;      /* what a trial needs of memory and devices */
    struct cluster cluster;    /* and of a cluster's scheduler */
    bool debug;                /* debug, or logLevel debug or trace */
};

/* Frees all that it points to; and it. */
void experiment_fini(struct experiment *x);
void experiment_free(struct experiment *x);

/* The direction, "minimize" or "maximize"; NULL: the experiment names none. */
const char *experiment_direction(const struct experiment *x);
/* Whether the word is one of these two. */
bool experiment_is_direction(const char *word);

/* The policy as "ignore", "latest" or "best". */
const char *early_stopped_name(enum early_stopped policy);

/* Where a problem with the search space, as src/space words it (its first word
 * is the entry's place), stands: "e.yml:5: searchSpace", "space.json:3". */
void experiment_space_place(const struct experiment *x, const char *problem,
                            char *out, size_t size);

#endif
