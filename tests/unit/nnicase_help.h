/* SPDX-License-Identifier: MIT */
/* nnicase_help.h - for the cases of NNI's own tests of its tuners: which there
 * are, what they suggested, results as NNI's tests report them. */
#ifndef TESTS_NNICASE_HELP_H
#define TESTS_NNICASE_HELP_H

#include "dispatcher_help.h"

#include <math.h>

static const struct {
    const char *name, *args;
    bool ends; /* on a finite space */
} tuners[] = {
    {"TPE", "{\"optimize_mode\": \"maximize\"}", true},
    {"Random", "{}", true},
    {"GridSearch", "{}", true},
    {"BatchTuner", "{}", true},
    {"Anneal", "{}", false},
    {"Evolution", "{\"population_size\": 100}", false},
    {"RegularizedEvolution", "{}", false},
    {"PBT", "{\"population_size\": 100}", false},
};
#define N_TUNERS (sizeof tuners / sizeof *tuners)

#define SPEC(type, values) "{\"_type\": \"" type "\", \"_value\": [" values "]}"
#define ANIMALS                                            \
    "\"cat\", \"dog\", \"elephant\", \"cow\", \"sheep\", " \
    "\"panda\", \"tiger\""

static inline struct jval
member(struct jval object, const char *key)
{
    struct jval v;

    CHECK(jval_get(object, key, &v));
    return v;
}

/* The payload of the k-th TR among what was sent, parsed; NULL: none. */
static inline struct json *
suggestion(const char *sent, size_t k)
{
    for (const char *line = sent; *line != '\0';
         line += strcspn(line, "\n") + 1) {
        const char *at = strchr(line, ' ') + 1;

        if (strncmp(at, "TR ", 3) == 0 && k-- == 0)
            return json_parse(at + 3, strcspn(at, "\n") - 3, JSON_STRICT, NULL);
    }
    return NULL;
}

static inline size_t
suggestions(const char *sent)
{
    struct json *doc;
    size_t n = 0;

    while ((doc = suggestion(sent, n)) != NULL) {
        json_free(doc);
        n++;
    }
    return n;
}

/* A number for even ids, an object for odd ones; and the end. */
static inline void
report(struct drive *d, int64_t id)
{
    char job[32];
    double value = sin((double)id);

    snprintf(job, sizeof job, "job%d", (int)id);
    if (id % 2 == 0)
        drive_send(d, "ME",
                   "{\"parameter_id\": %d, \"trial_job_id\": \"%s\", \"type\": "
                   "\"FINAL\", \"sequence\": 0, \"value\": \"%.17g\"}",
                   (int)id, job, value);
    else
        drive_send(d, "ME",
                   "{\"parameter_id\": %d, \"trial_job_id\": \"%s\", \"type\": "
                   "\"FINAL\", \"sequence\": 0, \"value\": \"{\\\"default\\\": "
                   "%.17g, \\\"extra\\\": \\\"hello\\\"}\"}",
                   (int)id, job, value);
    drive_end(d, (int)id, job, "SUCCEEDED");
}

#endif
