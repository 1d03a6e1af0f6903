/* SPDX-License-Identifier: MIT */
/* Search spaces: what is parsed can be sampled; a sample that can be decoded
 * decodes to strict JSON, which encodes to a point that decodes to the same
 * bytes and projects into the space itself; what trials are given is equal. */
#include "fuzz.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/problems.h"
#include "space/space.h"

#include <math.h>
#include <string.h>

#define TEXT_MAX ((size_t)1 << 24)
#define DRAWS 3

static void
check_point(const struct space *s, const double *x, double *y)
{
    struct err err;
    struct json *doc, *given;
    struct buf a, b;

    buf_init(&a, TEXT_MAX);
    buf_init(&b, TEXT_MAX);
    space_decode(s, x, &a);
    MUST(!a.failed);
    doc = json_parse(a.data, a.len, JSON_STRICT, &err);
    MUST(doc != NULL);
    MUST(space_encode(s, json_root(doc), y, &err) == 0);
    MUST(space_check(s, y, &err) == 0);
    space_decode(s, y, &b);
    MUST(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
    MUST(space_project(s, x, s, y, &err) == 0);
    buf_clear(&b);
    space_write_given(s, json_root(doc), &b);
    given = json_parse(buf_text(&b), b.len, JSON_STRICT, &err);
    MUST(given != NULL && jval_equal(json_root(given), json_root(doc)));
    json_free(given);
    json_free(doc);
    buf_fini(&a);
    buf_fini(&b);
}

static void
check_space(const struct space *s)
{
    const struct tp_space *dims = space_dims(s);
    double *x = calloc(2 * dims->n_dims + 1, sizeof *x);
    struct err err;

    MUST(x != NULL);
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        space_sample(s, 7, draw, x);
        for (size_t i = 0; i < dims->n_dims; i++)
            MUST(space_is_active(s, x, i) == !isnan(x[i]));
        if (space_check(s, x, &err) == 0)
            check_point(s, x, x + dims->n_dims);
    }
    free(x);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json *doc =
        json_parse((const char *)data, size, JSON_NAN | JSON_UNIQUE, NULL);
    struct problems problems;
    struct space *s;

    if (doc == NULL)
        return 0;
    problems_init(&problems);
    s = space_parse(json_root(doc), &problems);
    json_free(doc);
    MUST((s == NULL) == (problems.count > 0));
    if (s != NULL)
        check_space(s);
    space_free(s);
    problems_fini(&problems);
    return 0;
}
