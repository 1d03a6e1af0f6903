/* SPDX-License-Identifier: MIT */
/* nni_stream.h - for benchmarks: the search space of ten parameters in which
 * NNI's dispatcher was measured, and results in it. */
#ifndef TESTS_BENCH_NNI_STREAM_H
#define TESTS_BENCH_NNI_STREAM_H

#include "stream.h"

static inline void
nni_space(struct stream *s)
{
    buf_add_text(&s->payload,
                 "{\"lr\":{\"_type\":\"loguniform\",\"_value\":[0.00001,0.1]},"
                 "\"decay\":{\"_type\":\"loguniform\",\"_value\":[0.000001,"
                 "0.01]},\"momentum\":{\"_type\":\"uniform\",\"_value\":[0,1]},"
                 "\"dropout\":{\"_type\":\"uniform\",\"_value\":[0,0.5]},"
                 "\"width\":{\"_type\":\"quniform\",\"_value\":[16,256,16]},"
                 "\"batch\":{\"_type\":\"qloguniform\",\"_value\":[8,512,8]},"
                 "\"shift\":{\"_type\":\"normal\",\"_value\":[0,1]},"
                 "\"layers\":{\"_type\":\"randint\",\"_value\":[1,9]},"
                 "\"act\":{\"_type\":\"choice\",\"_value\":[\"relu\",\"tanh\","
                 "\"elu\"]},\"opt\":{\"_type\":\"choice\",\"_value\":[\"sgd\","
                 "\"adam\"]}}");
    stream_add(s, "IN");
}

/* An even spread, as good as any. */
static inline double
nni_part(uint64_t i, uint64_t k)
{
    return (double)((i + 1) * (k * 7919 + 2654435761u) % 1009) / 1009;
}

static inline void
nni_import(struct stream *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        buf_printf(&s->payload,
                   "%s{\"parameter\":{\"lr\":%.6g,\"decay\":%.6g,\"momentum\":"
                   "%.6g,\"dropout\":%.6g,\"width\":%d,\"batch\":%d,"
                   "\"shift\":%.6g,\"layers\":%d,\"act\":\"%s\",\"opt\":\"%s\""
                   "},\"value\":\"%.6g\",\"trialJobId\":\"a%d\"}",
                   i > 0 ? "," : "[", 0.00001 + 0.09 * nni_part(i, 1),
                   0.000001 + 0.009 * nni_part(i, 2), nni_part(i, 3),
                   nni_part(i, 4) / 2, 16 * (1 + (int)(i % 16)),
                   8 * (1 + (int)(i % 64)), nni_part(i, 5) * 4 - 2,
                   1 + (int)(i % 8), i % 3 == 0 ? "tanh" : "relu",
                   i % 2 == 0 ? "sgd" : "adam", nni_part(i, 6), (int)i);
    buf_add_char(&s->payload, ']');
    stream_add(s, "FD");
}

static inline void
nni_finish_trial(struct stream *s)
{
    uint64_t id = s->next_id++;

    stream_metric(s, "FINAL", id, 0, nni_part(id, 7));
    stream_end(s, id, "SUCCEEDED");
}

#endif
