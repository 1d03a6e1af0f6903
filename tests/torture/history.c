/* SPDX-License-Identifier: MIT */
#include "torture.h"

#include "core/buf.h"
#include "core/err.h"
#include "history/history.h"
#include "log/record.h"

#include <string.h>

#define FACTS 14

static const struct {
    enum record_kind kind;
    const char *payload;
} records[] = {
    {RECORD_HEAD, "{}"},
    {RECORD_TUNER, "TR{\"parameter_id\": 1, \"parameters\": {\"x\": 1}}"},
    {RECORD_TUNER, "TR{\"parameter_id\": \"a\", \"parameters\": {}, "
                   "\"resume_from\": \"00000\"}"},
    {RECORD_IN, "AD[{\"parameter_id\": 7}, {\"parameter_id\": 8}]"},
    {RECORD_IN, "NT{\"event\": \"started\", \"trial_job_id\": \"00000\", "
                "\"parameter_id\": 1, \"attempt\": 0}"},
    {RECORD_IN, "ME{\"parameter_id\": \"a\", \"trial_job_id\": \"00001\", "
                "\"type\": \"FINAL\", \"sequence\": 0, \"value\": \"1\"}"},
    {RECORD_ASSESSOR, "KI\"00000\""},
    {RECORD_TUNER, "DT{\"trial_job_id\": \"00000\", \"decision\": \"pause\"}"},
    {RECORD_RESUMED, "goes on"},
    {RECORD_IN, "NT{\"event\": \"started\", \"trial_job_id\": \"00000\", "
                "\"parameter_id\": 1, \"attempt\": 1}"},
    {RECORD_IN, "EN{\"trial_job_id\": \"00000\", \"event\": \"FAILED\", "
                "\"hyper_params\": \"{}\"}"},
};

static int
read_records(struct history_reader *h, struct err *err)
{
    struct history_fact fact;
    size_t n = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof records / sizeof *records; i++) {
        const char *payload = records[i].payload;
        const struct record r = {.kind = records[i].kind,
                                 .number = i,
                                 .time_us = (int64_t)i,
                                 .payload = payload,
                                 .len = strlen(payload)};

        rc = history_take(h, &r, err);
        while (rc == 0 && (rc = history_next(h, &fact, err)) == 1) {
            n++;
            rc = 0;
        }
    }
    if (rc != 0)
        return -1;
    return n == FACTS ? 0 : err_set(err, ERR_INPUT, "%zu facts", n);
}

static int
history_there_and_back(struct err *err)
{
    struct history_reader *h = history_new(err), *other = NULL;
    struct buf state;
    int rc = h == NULL ? -1 : read_records(h, err);

    buf_init(&state, 1 << 20);
    if (rc == 0) {
        history_save(h, &state);
        rc = buf_check(&state, "a history", err);
    }
    if (rc == 0)
        other = history_new(err);
    if (rc == 0)
        rc = other == NULL || history_load(other, state.data, state.len, err)
                 ? -1
                 : 0;
    history_close(h);
    history_close(other);
    buf_fini(&state);
    return rc;
}

const struct torture_case torture_history[] = {
    {"history", history_there_and_back, 0}, {NULL, NULL, 0}};
