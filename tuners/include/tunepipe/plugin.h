/* SPDX-License-Identifier: MIT */
/* tunepipe/plugin.h - what tuners and assessors have in common.
 *
 * A plugin is a shared object that links to nothing of tunepipe: it exports
 * one function (made by TP_REGISTER_TUNER or TP_REGISTER_ASSESSOR) that
 * returns a table of callbacks, and it is lent a table of services, the host.
 * The headers compile as C90, C99, C11 and C++11.
 *
 * Threads.  The callbacks of one plugin object are never called by two
 * threads at once, and each call sees all that the one before it wrote; but
 * it need not be the same thread each time.  A tuner and an assessor run at
 * the same time: they share nothing.
 *
 * Lending.  What a callback is given is lent for the call, and nothing of it
 * is written to but what the callback is there to fill.  The host lends copies
 * where it can; what a plugin overwrites elsewhere in its process nobody can
 * tell: `tunepipe plugin check` and a sanitizer find it.
 *
 * Numbers.  Callbacks run in the default floating-point environment (round to
 * nearest, no flush to zero); the host restores it after each call.  What a
 * plugin answers may depend on its arguments, the calls it was given and the
 * host's random numbers, and on nothing else: not on clocks, addresses,
 * locale or environment.  Otherwise a recorded session does not replay.
 *
 * Growing.  Structs carry their size first, members are only ever added at
 * the end, and both sides touch a member only when the size says that it is
 * there: TP_HAS(host, sample). */
#ifndef TUNEPIPE_PLUGIN_H
#define TUNEPIPE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define TP_EXTERN_C extern "C"
#else
#define TP_EXTERN_C
#endif
#define TP_EXPORT TP_EXTERN_C __attribute__((visibility("default")))

#define TP_ABI 1u /* raised only when an old plugin would break */

/* Whether the struct that p points to is long enough to have this member. */
#define TP_HAS(p, member)                                       \
    ((size_t)(p)->_struct_size >=                               \
     (size_t)((const char *)&(p)->member - (const char *)(p)) + \
         sizeof((p)->member))

/* What callbacks return. */
enum {
    TP_ERR = -1,  /* failed; say why with host->error() before returning */
    TP_OK = 0,    /* done */
    TP_LATER = 1, /* ask only: nothing now, ask again after the next result */
    TP_DONE = 2   /* ask only: the search space is exhausted */
};

/* Levels of host->log(). */
enum {
    TP_LOG_ERROR = 0,
    TP_LOG_WARNING = 1,
    TP_LOG_INFO = 2,
    TP_LOG_DEBUG = 3
};

/* Arguments.  A plugin describes what it takes in a static table, which the
 * host can print without creating anything, and against which it checks what
 * the user gave: unknown names, wrong types and values out of range never
 * reach the plugin. */
enum tp_arg_type {
    TP_ARG_INT = 1,    /* int64_t within low..high */
    TP_ARG_DOUBLE = 2, /* finite, within low..high */
    TP_ARG_BOOL = 3,
    TP_ARG_STRING = 4, /* any text, or one of `choices` when that is set */
    TP_ARG_SEED = 5    /* integer 0..2^63-1, or null; the host acts on it */
};

struct tp_arg {
    const char *name;    /* "gamma"; "tpe_args.gamma" lies in an object.
                            Letters, digits and '_' */
    int type;            /* enum tp_arg_type */
    int nullable;        /* null is allowed */
    const char *def;     /* default, as JSON: "20", "\"best\"", "null";
                            NULL: the user has to give it */
    double low, high;    /* INT, DOUBLE: inclusive; 0, 0: any */
    const char *choices; /* STRING: "maximize|minimize"; NULL: any text.  The
                            user may write them in any case, the plugin gets
                            them as they stand here */
    const char *doc;     /* one line, with the unit */
};

struct tp_value {
    int is_null;
    int64_t integer;  /* INT, BOOL (0 or 1), SEED */
    double number;    /* DOUBLE, INT */
    const char *text; /* STRING; valid until destroy() returns */
};

/* The search space, flattened: one dimension a parameter, parents before
 * their children.  A point is an array of n_dims doubles in *internal
 * coordinates*: the natural logarithm for log kinds, not yet rounded for q
 * kinds, the index 0..n_choices-1 for TP_CHOICE and TP_RANDINT, and NaN where
 * a dimension is inactive (its parent has another choice). */
enum tp_dim_kind {
    TP_CHOICE = 1,
    TP_RANDINT = 2, /* integers low..high-1 of the user, as an index; of a
                       qrandint each q-th of them */
    TP_UNIFORM = 3,
    TP_QUNIFORM = 4,
    TP_LOGUNIFORM = 5,
    TP_QLOGUNIFORM = 6, /* a lograndint, too */
    TP_NORMAL = 7,
    TP_QNORMAL = 8,
    TP_LOGNORMAL = 9,
    TP_QLOGNORMAL = 10
};

enum {
    TP_DIM_INDEX = 1,  /* an index: choice, randint */
    TP_DIM_LOG = 2,    /* internal coordinates are logarithms */
    TP_DIM_Q = 4,      /* values are rounded to multiples of q */
    TP_DIM_NORMAL = 8, /* prior is normal(mu, sigma); else uniform */
    TP_DIM_WHOLE = 16  /* the only dimension, emitted without its name */
};

#define TP_NO_PARENT ((size_t)-1)

struct tp_dim {
    const char *name;       /* path: "lr", "activation/slope" */
    int kind;               /* enum tp_dim_kind */
    int flags;              /* TP_DIM_... */
    uint64_t n_choices;     /* INDEX: how many; else 0 */
    int64_t offset;         /* RANDINT: the value of index 0; else 0 */
    double low, high;       /* internal; INDEX: 0, n_choices-1; NORMAL:
                               -infinity, infinity */
    double mu, sigma;       /* internal; NORMAL only */
    double q;               /* Q: the step in the user's unit; RANDINT: the
                               step of a qrandint; else 0 */
    size_t parent;          /* index of the choice this hangs on, or
                               TP_NO_PARENT */
    uint64_t parent_choice; /* active while x[parent] == parent_choice */
};

struct tp_space {
    uint64_t _struct_size;
    size_t n_dims;
    size_t dim_size; /* bytes from one struct tp_dim to the next */
    const struct tp_dim *dims;
};

/* The i-th dimension, whatever size the host's struct tp_dim has. */
#define TP_DIM(space, i)                                                 \
    ((const struct tp_dim *)(const void *)((const char *)(space)->dims + \
                                           (i) * (space)->dim_size))

/* What is said of a trial.  An assessor says go or stop. */
enum tp_decision {
    TP_GO = 0,
    TP_STOP = 1,   /* it is bad: it ends early */
    TP_PAUSE = 2,  /* tuner: it has used its budget: it ends, and its
                      checkpoint is kept, so that a later suggestion can go on
                      from it.  Go, where the manager knows no pause */
    TP_FINISH = 3, /* tuner: it has had all it ever gets: it ends, and its
                      latest value is its final one.  Go, as TP_PAUSE */
    TP_RELEASE = 4 /* tuner: nobody goes on from its checkpoint any more */
};

/* What assess, or a tuner's metric, fills; on entry: go, NaN, NaN, NULL. */
struct tp_verdict {
    uint64_t _struct_size;
    int decision;     /* enum tp_decision, but TP_RELEASE */
    double value;     /* what was compared ... */
    double threshold; /* ... with what; NaN: nothing was */
    const char *rule; /* static text: "best below the median of averages" */
};

/* What a trial is given for an element of a choice. */
enum tp_element_kind {
    TP_ELEMENT_NUMBER = 1,
    TP_ELEMENT_TRUTH = 2, /* false or true: number is 0 or 1 */
    TP_ELEMENT_TEXT = 3,  /* a text; of a nested choice, the `_name` */
    TP_ELEMENT_OTHER = 4  /* null, a list, an object */
};

struct tp_element {
    uint64_t _struct_size;
    int kind;         /* enum tp_element_kind */
    double number;    /* NUMBER, TRUTH; else 0 */
    const char *text; /* TEXT, lent as long as the space; else NULL */
};

/* What the host does for a plugin.  Lent from create() until destroy()
 * returns.  All services may be called from any callback, error and log from
 * any thread. */
struct tp_host {
    uint64_t _struct_size;
    void *ctx; /* first argument of every service */

    /* Says why the callback is about to return TP_ERR (or create NULL); one
     * line, at most 500 bytes, the last call counts. */
    void (*error)(void *ctx, const char *fmt, ...);

    /* One line for people. */
    void (*log)(void *ctx, int level, const char *fmt, ...);

    /* A uniform double in [0,1) with 53 random bits: always the same for the
     * same seed and the same (a, b, draw), whatever was drawn before.  Use
     * the trial's id for a, the dimension for b. */
    double (*uniform)(void *ctx, uint64_t a, uint32_t b, uint32_t draw);

    /* The same as 64 random bits. */
    uint64_t (*bits)(void *ctx, uint64_t a, uint32_t b, uint32_t draw);

    /* Fills x (n_dims of the current space) with a sample of the prior that
     * depends on seed and `draw_id` alone; inactive dimensions become NaN.
     * From space() on it samples that space; in an assessor, and before,
     * it does nothing. */
    void (*sample)(void *ctx, uint64_t draw_id, double *x);

    /* Both: of the current space, from space() on, as sample; in an assessor,
     * and before, NaN and TP_ERR. */

    /* What a trial is given for the coordinate x of dimension `dim`, as a
     * number: after exp, rounding to q and clipping; of a randint the
     * integer, of a choice the index.  x may be infinite; NaN gives NaN, and
     * so does a dimension that there is not. */
    double (*value)(void *ctx, size_t dim, double x);

    /* Fills key[0..1] with 128 bits that are the same for two points exactly
     * when trials are given the same parameters for them (but for a chance of
     * 2^-128): values after rounding, equal elements of a choice being one
     * value, keys in any order.  They depend on the parameters alone, so that
     * keys stay comparable when the space changes.  TP_OK, or TP_ERR when x is
     * no point of the space.  Another release may have other bits: keys may go
     * into save(), which it then replays, and nowhere else. */
    int (*key)(void *ctx, const double *x, uint64_t *key);

    /* In ask, metric or assess: one line, at most 500 bytes, that says why the
     * answer is what it is, for `tunepipe explain`; as many as there is to say.
     * 1 when somebody wants to know, else 0: the line is then not even
     * formatted.  fmt NULL only returns that, for lines that cost something to
     * find out.  No answer may depend on it. */
    int (*explain)(void *ctx, const char *fmt, ...);

    /* Of the current space, from space() on: what element `index` of the
     * choice `dim` is.  Sets all members of out but _struct_size, which the
     * caller has set.  TP_OK, or TP_ERR when there is no such element, or in
     * an assessor. */
    int (*element)(void *ctx, size_t dim, uint64_t index,
                   struct tp_element *out);

    /* In a tuner's ask: the trial finds `text` under `key` among its
     * parameters, behind those of the space.  Both are copied.  A key of the
     * space, one given twice, and TRIAL_BUDGET make the ask fail. */
    void (*extra)(void *ctx, const char *key, const char *text);

    /* In a tuner's ask, tell, ended or metric: a decision on the trial of an
     * earlier suggestion that is not the one being asked for or reported.
     * Nothing, when it has ended (but for TP_RELEASE), or when the same was
     * said of it before. */
    void (*decide)(void *ctx, uint64_t id, int decision);
};

/* Saving.  So that an experiment that goes on after a crash need not replay
 * all its calls, the host has each plugin object save what it knows, now and
 * then, and hands that to a new one in another process: of the same name,
 * version, arguments, seed and search space, but perhaps of a later build.
 *
 * - An object that was loaded answers from there on, bit by bit, what the one
 *   that was saved would have; saving changes nothing.  What cannot be told
 *   from outside, such as the room in a table, may differ.
 * - What load() gave, save() writes again: the same bytes.
 * - A save() that writes something else than it did raises `version`, or has
 *   begun with a number of its own by which load() tells them apart.
 * - Without save and load (both NULL; one alone is refused) an object is
 *   replayed from its beginning, slower and to the same effect.  So it is when
 *   load() fails, or leaves something unread; `tunepipe plugin check` finds
 *   that. */

/* Where save() puts it: values in a row, eight bytes each, without marks in
 * between.  Lent for the call; what goes wrong in here the host notices. */
struct tp_sink {
    uint64_t _struct_size;
    void *ctx; /* first argument of all of these */
    void (*u64)(void *ctx, uint64_t value);
    void (*f64)(void *ctx, double value); /* bit by bit, as the next */
    void (*f64s)(void *ctx, const double *values, size_t n);
    void (*bytes)(void *ctx, const void *bytes, size_t n); /* n is not kept */
};

/* Where load() gets it from, in the same order.  TP_OK, or TP_ERR when so much
 * is not there: what should have been filled is zeroed, and every later read
 * fails, too.  What is read may be damaged all the same: hold counts against
 * left() before something is allocated for them, and take no value that
 * cannot be. */
struct tp_source {
    uint64_t _struct_size;
    void *ctx; /* first argument of all of these */
    int (*u64)(void *ctx, uint64_t *out);
    int (*f64)(void *ctx, double *out);
    int (*f64s)(void *ctx, double *out, size_t n);
    int (*bytes)(void *ctx, void *out, size_t n);
    size_t (*left)(void *ctx); /* bytes */
};

#endif
