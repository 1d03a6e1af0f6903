/* SPDX-License-Identifier: MIT */
#include "store/attempts.h"

#include "core/err.h"
#include "json.h"
#include "store/logwalk.h"

#include <stdlib.h>
#include <string.h>

/* The number itself, as a value of the map. */
static void *
as_value(uint64_t n)
{
    return (void *)(uintptr_t)(n + 1);
}

static int
take_note(void *ctx, const struct record *r, const char *payload, size_t len,
          struct err *err)
{
    struct json *doc = json_parse(payload, len, JSON_STRICT, NULL);
    struct attempts *a = ctx;
    const char *event, *trial;
    uint64_t n = 0;
    struct jval v;
    int rc = 0;

    (void)r;
    if (doc != NULL && jval_get(json_root(doc), "event", &v) &&
        jval_string(v, &event, NULL) && strcmp(event, "started") == 0 &&
        jval_get(json_root(doc), "trial_job_id", &v) &&
        jval_string(v, &trial, NULL)) {
        if (jval_get(json_root(doc), "attempt", &v))
            jval_uint(v, &n);
        if (map_put(&a->counts, trial, strlen(trial), as_value(n + 1)) != 0)
            rc = err_set(err, ERR_MEMORY, "out of memory");
    }
    json_free(doc);
    return rc;
}

int
attempts_load(struct attempts *a, const char *folder, struct err *err)
{
    *a = (struct attempts){.lacks = false};
    return logwalk(folder, "NT", take_note, a, &a->lacks, err);
}

void
attempts_fini(struct attempts *a)
{
    map_fini(&a->counts);
}

bool
attempts_of(const struct attempts *a, const char *trial, uint64_t *out)
{
    void *value = map_get(&a->counts, trial, strlen(trial));

    *out = value == NULL ? 0 : (uint64_t)(uintptr_t)value - 1;
    return value != NULL || !a->lacks;
}
