/* SPDX-License-Identifier: MIT */
/* metrics.h - what a trial reported: lines of its `metrics`, records of NNI's
 * file (trial/files.h) and lines of its output that match a pattern, made into
 * metrics with their numbers.  No I/O.  One thread. */
#ifndef MANAGER_METRICS_H
#define MANAGER_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct experiment;
struct jval;
struct objectives;

struct metric_line {
    bool final;
    uint64_t sequence; /* its position among those of its type */
    const char *json;  /* borrowed; not NUL-terminated */
    size_t len;
    double value;     /* may be NaN or infinite; of several values the first
                         objective's, NaN where it has none; of a final result
                         with one that is not finite that */
    bool waits;       /* the trial waits for the answer (trial/files.h) ... */
    bool hears;       /* ... and ends by itself if the answer is to stop */
    int64_t end;      /* where the line of a trial that waits ends */
    bool sync;        /* its ME asks for an AK */
    bool decides_end; /* it reaches the trial's budget, so that its answer tells
                    how the trial's end is to be judged */
    bool done;        /* it is final, and the trial is to be ended */
    int64_t elapsed_ns; /* since the report before it; 0: not known */
};

/* How much one trial has reported. */
struct metrics {
    uint64_t lines; /* of its file `metrics` */
    uint64_t intermediates, finals;
};

/* So many metrics of each type, from the first on; lines that could not be read
 * count, too, since each has its position. */
struct metrics_count {
    uint64_t intermediates, finals;
};

/* What a line is.  Of a METRICS_CHECKPOINT out->sequence is its number, and
 * nothing else is set. */
enum metrics_word {
    METRICS_METRIC,
    METRICS_CHECKPOINT,
    METRICS_REFUSED, /* what was to be reported as its final result is none */
    METRICS_LACKS,   /* a final result without all values that it has to have */
    METRICS_BAD,
};

/* Reads the next line of `metrics`; `of`: what results are judged by; NULL: one
 * number.  METRICS_BAD, METRICS_LACKS: err (ERR_INPUT) says what is wrong and
 * in which line; the line kept its sequence. */
enum metrics_word metrics_line(struct metrics *m, const struct objectives *of,
                               const char *line, size_t len, bool too_long,
                               struct metric_line *out, struct err *err);

/* What stands in a struct metric_line as the value of an intermediate result,
 * JSON.  -1: it has none. */
int metrics_value(const struct objectives *of, const char *json, size_t len,
                  double *value, struct err *err);
/* Whether a reported value, JSON, can be a final result.  -1: err says what it
 * lacks. */
int metrics_whole(const struct objectives *of, const char *json, size_t len,
                  double *value, struct err *err);

/* Sets err for a line that holds a NUL, and so is no line of text. */
void metrics_refuse_nul(const char *line, size_t len, struct err *err);

/* Reads the next record of NNI's file.  out->json lies in `value`, which is
 * cleared first.  METRICS_BAD, METRICS_LACKS: err (ERR_INPUT) says what is
 * wrong; the record kept its sequence if its type was known. */
enum metrics_word metrics_nni(struct metrics *m, const struct objectives *of,
                              const char *json, size_t len, struct buf *value,
                              struct metric_line *out, struct err *err);

/* A pattern for a trial's output, compiled. */
struct pattern;
struct pattern *pattern_new(const char *regex, struct err *err);
void pattern_free(struct pattern *p);

/* Whether the line matches and its first group that took part is a number;
 * nan and inf, as programs print them, are numbers too. */
bool pattern_match(const struct pattern *p, const char *line, double *out);

/* All patterns of a configuration. */
struct patterns;
/* NULL on failure.  The experiment is borrowed. */
struct patterns *patterns_new(const struct experiment *x, struct err *err);
void patterns_free(struct patterns *p);

/* What one trial's output has told since its last result; zeroed: nothing. */
struct pattern_values {
    double values[24]; /* EXPERIMENT_PATTERNS_MAX, */
    uint32_t found;    /* and which of them there are */
};

/* Whether a pattern finds something in the line. */
bool patterns_match(const struct patterns *p, const char *line);
/* Takes the next line.  A result is there when all values that it has to have
 * were found, on one line or on several; what is found again before replaces
 * what was.  True: *json, which is cleared first, has it, and *value is as in a
 * struct metric_line. */
bool patterns_take(const struct patterns *p, struct pattern_values *values,
                   const char *line, struct buf *json, double *value);

/* Appends the payload of ME, in NNI's spelling; `parameter_id` is JSON text,
 * `base` is how many intermediate results were reported before the attempt's
 * first. */
void metrics_write(struct buf *out, const char *job, const char *parameter_id,
                   uint64_t attempt, uint64_t base,
                   const struct metric_line *metric);

/* ---- the last few values that a trial reported, for people to see where it
 * goes ---- */

#define RECENT_MAX 16

/* A zeroed one is empty. */
struct recent {
    float values[RECENT_MAX];
    uint64_t n; /* values that were ever added */
};

static inline void
recent_add(struct recent *r, double value)
{
    r->values[r->n++ % RECENT_MAX] = (float)value;
}

static inline unsigned
recent_count(const struct recent *r)
{
    return r->n < RECENT_MAX ? (unsigned)r->n : RECENT_MAX;
}

/* The value at i < recent_count(); at 0 is the oldest. */
static inline double
recent_at(const struct recent *r, unsigned i)
{
    return (double)r->values[(r->n - recent_count(r) + i) % RECENT_MAX];
}

#endif
