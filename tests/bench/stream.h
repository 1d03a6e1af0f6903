/* SPDX-License-Identifier: MIT */
/* stream.h - for benchmarks: what a manager sends, byte for byte as NNI's
 * spells it, in steps.
 *
 * A manager cannot report for a trial that it was not yet given: a step ends
 * where the next bytes may only follow when so many trials (TR) and kills (KI)
 * have come back.  Ids are handed out from 0, so all can be written before.
 * The totals run on through stream_clear(): one stream, one dispatcher. */
#ifndef TESTS_BENCH_STREAM_H
#define TESTS_BENCH_STREAM_H

#include "core/buf.h"
#include "core/number.h"
#include "frame.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_MAX ((size_t)1 << 32)

struct stream_step {
    size_t end; /* in bytes */
    uint64_t trials, kills;
};

struct stream {
    struct buf bytes, payload;
    struct stream_step *steps;
    size_t n_steps;
    uint64_t trials, kills; /* that come back for all that was written */
    uint64_t next_id;       /* of those trials, the first one not yet used */
    uint64_t metrics;       /* PERIODICAL ones in bytes */
};

static inline void
stream_init(struct stream *s)
{
    *s = (struct stream){0};
    buf_init(&s->bytes, STREAM_MAX);
    buf_init(&s->payload, STREAM_MAX);
}

static inline void
stream_fini(struct stream *s)
{
    buf_fini(&s->bytes);
    buf_fini(&s->payload);
    free(s->steps);
}

static inline void
stream_clear(struct stream *s)
{
    buf_clear(&s->bytes);
    s->n_steps = 0;
    s->metrics = 0;
}

/* Ends a step here. */
static inline void
stream_step(struct stream *s)
{
    struct stream_step *steps =
        realloc(s->steps, (s->n_steps + 1) * sizeof *steps);

    if (steps == NULL || s->bytes.failed) {
        fprintf(stderr, "bench: out of memory\n");
        exit(1);
    }
    s->steps = steps;
    steps[s->n_steps++] =
        (struct stream_step){s->bytes.len, s->trials, s->kills};
}

static inline void
stream_add(struct stream *s, const char *code)
{
    frame_encode(&s->bytes, FRAME_DIGITS, code, s->payload.data,
                 s->payload.len);
    buf_clear(&s->payload);
}

static inline void
stream_space(struct stream *s)
{
    buf_add_text(&s->payload,
                 "{\"batch_size\":{\"_type\":\"choice\",\"_value\":[16,32,64,"
                 "128]},\"hidden_size\":{\"_type\":\"choice\",\"_value\":[128,"
                 "256,512,1024]},\"lr\":{\"_type\":\"loguniform\",\"_value\":["
                 "0.0001,0.1]},\"momentum\":{\"_type\":\"uniform\",\"_value\":"
                 "[0,1]}}");
    stream_add(s, "IN");
}

static inline void
stream_ping(struct stream *s)
{
    stream_add(s, "PI");
}

static inline void
stream_request(struct stream *s, uint64_t n)
{
    buf_printf(&s->payload, "%" PRIu64, n);
    stream_add(s, "GE");
    s->trials += n;
}

/* Five letters that look drawn, as NNI's do; different for the first 380
 * million ids. */
static inline const char *
stream_job(uint64_t id, char out[6])
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    uint64_t mixed = (id * 179424673 + 86028121) % 380204032; /* 52^5 */

    for (int i = 0; i < 5; i++, mixed /= 52)
        out[i] = letters[mixed % 52];
    out[5] = '\0';
    return out;
}

static inline void
stream_metric(struct stream *s, const char *type, uint64_t id,
              uint64_t sequence, double value)
{
    char job[6], text[NUMBER_TEXT_MAX];

    number_format(value, text);
    buf_printf(&s->payload,
               "{\"parameter_id\": %" PRIu64 ", \"trial_job_id\": \"%s\", "
               "\"type\": \"%s\", \"sequence\": %" PRIu64 ", \"value\": "
               "\"%s\"}\n",
               id, stream_job(id, job), type, sequence, text);
    stream_add(s, "ME");
}

static inline void
stream_report(struct stream *s, uint64_t id, uint64_t sequence, double value)
{
    stream_metric(s, "PERIODICAL", id, sequence, value);
    s->metrics++;
}

static inline void
stream_end(struct stream *s, uint64_t id, const char *event)
{
    char job[6];

    buf_printf(&s->payload,
               "{\"trial_job_id\":\"%s\",\"event\":\"%s\",\"hyper_params\":"
               "\"{\\\"parameter_id\\\": %" PRIu64 ", \\\"parameter_source"
               "\\\": \\\"algorithm\\\", \\\"parameters\\\": {\\\"batch_size"
               "\\\": 32, \\\"hidden_size\\\": 512, \\\"lr\\\": "
               "0.00011599497432385631, \\\"momentum\\\": 0.5394097683782016},"
               " \\\"parameter_index\\\": 0}\"}",
               stream_job(id, job), event, id);
    stream_add(s, "EN");
}

/* Curves of a metric to maximize.  A completed trial's rises in a straight
 * line, so that its best is never below the median of the averages; a good
 * one lies above all of them; a bad one is overtaken near step 25. */
enum stream_curve { CURVE_COMPLETED, CURVE_GOOD, CURVE_BAD };

static inline double
stream_value(enum stream_curve curve, uint64_t id, uint64_t step)
{
    double slope = 0.0104719755 + (double)(id % 100) * 7.8539816e-05;
    double value = 0.0314159265 + slope * (double)step;

    if (curve == CURVE_BAD)
        return 0.2071067811 - slope / 64;
    return curve == CURVE_GOOD ? value + 0.5772156649 : value;
}

/* A batch of trials that report in turn, then succeed; asked for here. */
static inline void
stream_completed(struct stream *s, uint64_t n, uint64_t steps)
{
    uint64_t first = s->next_id;

    stream_request(s, n);
    stream_step(s);
    s->next_id += n;
    for (uint64_t step = 0; step < steps; step++)
        for (uint64_t i = 0; i < n; i++)
            stream_report(s, first + i, step,
                          stream_value(CURVE_COMPLETED, first + i, step));
    for (uint64_t i = 0; i < n; i++) {
        stream_metric(s, "FINAL", first + i, 0,
                      stream_value(CURVE_COMPLETED, first + i, steps));
        stream_end(s, first + i, "SUCCEEDED");
    }
    stream_step(s);
}

/* Bad trials report for 5 steps more than it takes to stop them. */
#define STREAM_BAD_STEPS 30

/* One batch of trials that run beside each other and end without a result, so
 * that the number of completed ones stays as it is.  When `half`, every other
 * one is bad and stopped.  The trials were asked for before. */
static inline void
stream_batch(struct stream *s, uint64_t n, uint64_t steps, bool half)
{
    uint64_t first = s->next_id;

    s->next_id += n;
    for (uint64_t step = 0; step < steps; step++)
        for (uint64_t i = 0; i < n; i++) {
            bool bad = half && i % 2 == 1;

            if (!bad || step < STREAM_BAD_STEPS)
                stream_report(s, first + i, step,
                              stream_value(bad ? CURVE_BAD : CURVE_GOOD,
                                           first + i, step));
        }
    for (uint64_t i = 0; i < n; i++) {
        bool bad = half && i % 2 == 1;

        stream_end(s, first + i, bad ? "EARLY_STOPPED" : "USER_CANCELED");
        s->kills += bad;
    }
}

/* Batch after batch.  The next trials are asked for before a batch reports,
 * so that they are there when it has: nobody waits. */
static inline void
stream_running(struct stream *s, uint64_t batches, uint64_t n, uint64_t steps,
               bool half)
{
    stream_request(s, n);
    stream_step(s);
    for (uint64_t i = 0; i < batches; i++) {
        if (i + 1 < batches)
            stream_request(s, n);
        stream_batch(s, n, steps, half);
        stream_step(s);
    }
}

/* A step that is over only when both workers have handled all before it: a
 * trial so bad that it is killed at once (there are completed ones, and there
 * is an assessor), and a request behind it. */
static inline void
stream_marker(struct stream *s, bool assessor)
{
    stream_request(s, 1);
    stream_step(s);
    if (assessor) {
        stream_metric(s, "PERIODICAL", s->next_id, 0, -1000);
        s->kills++;
    }
    stream_request(s, 1);
    s->next_id += 2;
    stream_step(s);
}

#endif
