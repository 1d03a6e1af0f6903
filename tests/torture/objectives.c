/* SPDX-License-Identifier: MIT */
#include "torture.h"

#include "command.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "core/pack.h"
#include "dispatcher/queue.h"
#include "dispatcher/router.h"
#include "frame.h"
#include "json.h"
#include "objectives/objectives.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "{\"objectives\": [{\"name\": \"a\", \"direction\": \"maximize\"}, "
    "{\"name\": \"b\", \"direction\": \"minimize\"}], "
    "\"resultConstraints\": [\"b <= 5\", \"c >= 1\"]}";

static int
no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "out of memory");
}

static int
read_and_write(struct err *err)
{
    struct objectives *o = objectives_read(text, err), *again;
    char *written;

    if (o == NULL)
        return -1;
    written = objectives_text(o);
    objectives_free(o);
    if (written == NULL)
        return no_memory(err);
    again = objectives_read(written, err);
    objectives_free(again);
    free(written);
    return again == NULL ? -1 : 0;
}

static int
take(const struct objectives *o, struct err *err)
{
    static const char reported[] =
        "\"{\\\"a\\\": 1, \\\"b\\\": 2, \\\"c\\\": 3}\"";
    struct json *doc = json_parse(reported, strlen(reported), JSON_NAN, err);
    struct objective_values values;
    int rc = -1;

    if (doc != NULL)
        rc = objectives_take(o, json_root(doc), &values, err);
    json_free(doc);
    return rc;
}

static int
take_values(struct err *err)
{
    struct objectives *o = objectives_read(text, err);
    int rc = o == NULL ? -1 : take(o, err);

    objectives_free(o);
    return rc;
}

static int
route(struct router *r, const char *code, const char *payload, struct err *err)
{
    struct frame f = {.payload = payload, .len = strlen(payload)};
    struct routed routed = {0};
    enum router_result word;

    memcpy(f.code, code, 3);
    word = router_frame(r, &f, router_frames(r) + 1, &routed);
    chain_clear(&routed.by_default);
    chain_clear(&routed.assessor);
    return word == ROUTER_ON ? 0 : no_memory(err);
}

#define ME                                                            \
    "{\"parameter_id\": \"0-7\", \"trial_job_id\": \"A\", \"type\": " \
    "\"PERIODICAL\", \"sequence\": "

static int
save_and_load(struct router *r, const struct objectives *o,
              const struct log *log, struct err *err)
{
    struct router *fresh = router_new(log, err);
    struct unpack in;
    struct buf saved;
    int rc = -1;

    buf_init(&saved, SIZE_MAX / 2);
    router_save(r, &saved);
    in = unpack_from(saved.data, saved.len);
    if (fresh != NULL) {
        router_judge(fresh, o);
        rc = saved.failed || router_load(fresh, &in) != 0 ? no_memory(err) : 0;
    }
    if (rc == 0)
        rc = route(fresh, "EN",
                   "{\"trial_job_id\": \"A\", \"event\": \"EARLY_STOPPED\"}",
                   err);
    router_free(fresh);
    buf_fini(&saved);
    return rc;
}

static int
route_values(struct err *err)
{
    static const struct log silent = {.fd = -1};
    struct objectives *o = objectives_read(text, err);
    struct router *r = o == NULL ? NULL : router_new(&silent, err);
    int rc = -1;

    if (r != NULL) {
        router_judge(r, o);
        rc = route(r, "ME", ME "0, \"value\": {\"a\": 1, \"b\": 2, \"c\": 3}}",
                   err) != 0 ||
                     route(r, "ME",
                           ME "1, \"value\": \"{\\\"a\\\": 2, "
                              "\\\"b\\\": 2, \\\"c\\\": 3}\"}",
                           err) != 0
                 ? -1
                 : save_and_load(r, o, &silent, err);
    }
    router_free(r);
    objectives_free(o);
    return rc;
}

const struct torture_case torture_objectives[] = {
    /* asprintf() does without the second of its allocations */
    {"objectives_read", read_and_write, 1},
    {"objectives_take", take_values, 1},
    {"objectives_route", route_values, 1},
    {NULL, NULL, 0}};
