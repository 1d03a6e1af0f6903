/* SPDX-License-Identifier: MIT */
/* command.h - frames <-> commands: payloads decoded once into a typed struct,
 * JSON inside JSON included.  No threads, no tuners, no policy.
 *
 * A struct command owns all it points to; ownership moves with it through the
 * queues.  It is not changed after decoding, but for the fields the router
 * stamps before it passes the command on. */
#ifndef PROTOCOL_COMMAND_H
#define PROTOCOL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct frame;
struct json;
struct jval;

enum command_code {
#define COMMAND(name, code, direction, queue, payload, doc) CMD_##name,
#include "commands.def"
#undef COMMAND
    CMD_COUNT
};

enum command_direction { DIRECTION_IN, DIRECTION_OUT, DIRECTION_BOTH };
enum command_queue {
    QUEUE_DEFAULT,
    QUEUE_ASSESSOR,
    QUEUE_SPLIT,
    QUEUE_ROUTER,
    QUEUE_NONE,
};

struct command_info {
    const char *name; /* "REQUEST_TRIALS" */
    const char *code; /* "GE" */
    enum command_direction direction;
    enum command_queue queue;
    const char *doc;
};

/* A GE that asks for more is not served. */
#define COMMAND_REQUEST_MAX 65536

/* Which parameters a trial runs. */
enum parameter_kind {
    PARAMETER_NONE,   /* null or absent: a trial the user added */
    PARAMETER_NUMBER, /* the dispatcher's own ids */
    PARAMETER_LABEL,  /* a text of the tuner's, such as Hyperband's "0-3_1_5" */
};
struct parameter_id {
    enum parameter_kind kind;
    uint64_t number; /* NUMBER */
    char *label;     /* LABEL, else NULL; owned by the command */
};

enum metric_type { METRIC_PERIODICAL, METRIC_FINAL, METRIC_REQUEST };

struct metric {
    char *job; /* trial_job_id */
    struct parameter_id parameter;
    enum metric_type type;
    uint64_t sequence;   /* from 0; FINAL: 0 unless the frame says otherwise */
    uint64_t attempt;    /* extension; else 0 */
    uint64_t base;       /* extension: the step that sequence 0 has; else 0 */
    bool sync;           /* extension: the trial waits for an AK */
    bool has_value;      /* false: `problem` says why there is no number */
    double value;        /* may be NaN or infinite: NNI's clients send those */
    const char *problem; /* static text */
    const char *shown; /* what stands in the place of a number, in quotes; NULL:
                          nothing */
    /* The value as the frame has it, for metric_parse(); borrowed from the
     * frame.  NULL: it has none. */
    const char *text;
    size_t text_len;
    bool text_escaped;
    /* Stamped by the router, where the experiment names objectives: their
     * values in their order, then those that only limits name; owned by the
     * command.  NULL: the metric lacks one. */
    double *values;
    size_t n_values;
    double violation; /* of limits; 0: within all */
};

enum end_event {
    END_SUCCEEDED,
    END_FAILED,
    END_USER_CANCELED,
    END_SYS_CANCELED,
    END_EARLY_STOPPED,
    END_PAUSED, /* extension */
};

/* One of a trial's intermediate values, with its step. */
struct mark {
    double value;
    uint64_t step;
    const double *values; /* as in struct metric; NULL: no objectives */
    double violation;     /* as in struct metric */
};

struct trial_end {
    char *job; /* trial_job_id */
    enum end_event event;
    uint64_t attempt;         /* extension; else 0 */
    bool sync;                /* extension: the trial waits for an AK */
    struct parameter_id hint; /* the id inside hyper_params */

    /* Stamped by the router (marks.h): */
    struct parameter_id parameter; /* of the trial's own metrics, else of the
                                      hint: made by parameter_copy(), since
                                      command_free() frees its label */
    bool stopped;                  /* END_EARLY_STOPPED, or behind our KI */
    bool repeated;                 /* an end of this trial came before */
    size_t living;                 /* other trials that are known to run */
    bool has_marks;                /* the trial has reported a number */
    struct mark latest, lowest, highest;
    double *values;  /* owned by the command: what `values` of the marks point
                        into */
    size_t n_values; /* of each mark */
};

/* A trial and the parameters that it runs, as the router knows them. */
struct command_run {
    char *job;
    struct parameter_id parameter;
};

struct command {
    struct command *next; /* in a queue */
    enum command_code code;
    uint64_t arrival;    /* 1-based number of the inbound frame; the cause */
    uint64_t position;   /* as arrival, counting the manager's frames alone; set
                            by the router */
    const char *payload; /* of the frame, borrowed, for a side that handles it
                            before the next read; set by the router */
    size_t payload_len;
    size_t cost;     /* bytes that it counts in the queues; set by the router */
    bool tuner_half; /* TRIAL_END: the default worker's half */
    /* For a restarted manager of NNI's.  IMPORT: the trials that have reported
     * and not ended; REQUEST_TRIALS (in both queues): those of them that are
     * lost. Set by the router, with command_add_run(). */
    struct command_run *runs;
    size_t n_runs;
    union {
        struct json *space;    /* INITIALIZE, UPDATE_SPACE: an object */
        struct json *document; /* IMPORT, ADD_CUSTOM: an array of objects
                                  (records that are JSON in a string are
                                  decoded); NOTE: an object */
        struct {
            uint64_t count;      /* 0: the request cannot be served ... */
            const char *problem; /* ... because: static text */
        } request;
        struct metric metric;
        struct trial_end end;
        uint64_t planned; /* PLAN: trials in all; 0: no limit */
    };
};

/* The row of a command in the table; NULL: there is no such code. */
const struct command_info *command_info(enum command_code code);
const struct command_info *command_find(const char code[2],
                                        enum command_code *out);

/* The event's name: "SUCCEEDED", ... */
const char *command_event_name(enum end_event event);

/* Decodes an inbound frame.  NULL on failure: err (ERR_INPUT) names what was
 * expected where; the caller adds code and number.  A GE is never refused: a
 * bad count is told in request.problem, because it must be answered. */
struct command *command_decode(const struct frame *frame, uint64_t arrival,
                               struct err *err);
void command_free(struct command *cmd);

/* The half of a trial's end for the tuner's side (arrival and stamp copied,
 * tuner_half set); NULL: out of memory. */
struct command *command_split_end(const struct command *cmd);

/* Adds copies of a job and its parameters to the command's runs; -1: out of
 * memory. */
int command_add_run(struct command *cmd, const char *job,
                    const struct parameter_id *parameter);

/* A REQUEST_TRIALS of the same arrival and runs, which only tells the
 * assessor's side that trials are lost; NULL: out of memory. */
struct command *command_new_loss(const struct command *request);

/* The id with that label, which is borrowed; with the number where it is
 * NULL. */
struct parameter_id parameter_named(uint64_t number, const char *label);
bool parameter_equal(const struct parameter_id *a,
                     const struct parameter_id *b);
/* Copies an id with a label of its own; -1: out of memory. */
int parameter_copy(struct parameter_id *to, const struct parameter_id *from);
/* Frees the label of such a copy; *p becomes PARAMETER_NONE. */
void parameter_clear(struct parameter_id *p);

/* The number in the `value` of a metric or of an imported trial: a number, a
 * boolean (1, 0), an object with such a `default`, or a string that holds one
 * of these as JSON.  False: *problem (static text) says what it is instead. */
bool metric_read_value(struct jval value, double *out, const char **problem);

/* The value of a metric whose frame is still there, to be freed; of a string,
 * what it holds as JSON.  NULL: err says that there is none, or that it is no
 * JSON. */
struct json *metric_parse(const struct metric *m, struct err *err);

/* What a TR says; the functions append payloads of outbound commands to
 * `out`. */
struct parameter_record {
    uint64_t id;
    const char *label;      /* NULL: it has the id alone */
    const char *parameters; /* JSON text */
    size_t parameters_len;
    const char *resume_from; /* extension: the trial_job_id of the trial whose
                                checkpoint it goes on from; NULL: none */
    const char *resume_how;  /* "promoted" or "cloned"; NULL: not said */
    bool bare;               /* as NNI's advisors write it: without
                                parameter_index */
};
void command_write_trial(struct buf *out, const struct parameter_record *r);

enum no_reason { NO_LATER, NO_EXHAUSTED, NO_FAILED };
/* Appends the payload of NO.  With a label it is an advisor's, "-1_0_0", with
 * its keys; NULL: with the id.  With extensions, `reason` and `units` are
 * written too. */
void command_write_no_more(struct buf *out, uint64_t first_id,
                           const char *label, enum no_reason reason,
                           uint64_t units, bool extensions);
void command_write_kill(struct buf *out, const char *job);
/* A decision on a trial: an AK has one of the first four, a DT one of the last
 * three. */
enum trial_decision {
    TRIAL_GO,
    TRIAL_STOP,
    TRIAL_PAUSE,
    TRIAL_FINISH,
    TRIAL_RELEASE,
};
const char *trial_decision_name(enum trial_decision decision);
/* The decision of that name; false: there is none. */
bool trial_decision_find(const char *name, enum trial_decision *out);

void command_write_decide(struct buf *out, const char *job,
                          enum trial_decision decision);
void command_write_acknowledge(struct buf *out, const char *job,
                               uint64_t sequence, enum trial_decision decision);
void command_write_acknowledge_end(struct buf *out, const char *job);
void command_write_initialized(struct buf *out, uint64_t last_arrival,
                               bool extensions);

/* What ID says to a manager whose session goes on. */
struct resumed {
    uint64_t frames;  /* frames of the manager that are on record */
    uint64_t owed;    /* ids that are owed */
    uint64_t trials;  /* TR that follow at once */
    uint64_t derived; /* answers that were not on record */
    /* There is no search space, and no answer to an IN is due. */
    bool spaceless;
};
void command_write_resumed(struct buf *out, const struct resumed *r);

#endif
