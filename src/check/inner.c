/* SPDX-License-Identifier: MIT */
#include "check/inner.h"

#include "core/grow.h"
#include "space/space.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDS_MAX ((uint64_t)1 << 24)

struct point {
    double *x;  /* as it was given out; NULL: it was not, or is done with */
    bool known; /* it was asked for, and the last answer was TP_OK */
    bool told, ended;
};

struct inner {
    struct inner_given of;
    enum inner_mood mood;
    struct tp_next next;
    struct point *points; /* by id */
    size_t n_points;
    uint64_t asked; /* by the host, now; TP_NO_ID: nothing is */
    uint64_t calls, asks, given;
    bool has_space, passed, failed; /* the latter in this call of the filter */
    double *first;                  /* the point of id 0; NULL: there is none */
    char fault[300];
};

static void
fault(struct inner *inner, const char *fmt, ...)
{
    va_list ap;

    if (inner->fault[0] != '\0')
        return;
    va_start(ap, fmt);
    vsnprintf(inner->fault, sizeof inner->fault, fmt, ap);
    va_end(ap);
}

static int
answer(struct inner *inner, int rc)
{
    if (inner->mood != INNER_FAILS || inner->calls++ % 3 != 2)
        return rc;
    inner->failed = true;
    return TP_ERR;
}

static size_t
point_size(const struct inner *inner)
{
    return space_dims(*inner->of.space)->n_dims * sizeof(double);
}

/* NULL: no such point. */
static struct point *
find(const struct inner *inner, uint64_t id)
{
    return id < inner->n_points ? &inner->points[id] : NULL;
}

static struct point *
make(struct inner *inner, uint64_t id)
{
    size_t n = id < 16 ? 32 : (size_t)id * 2;

    if (id < inner->n_points || id >= IDS_MAX)
        return find(inner, id);
    if (grow_to(&inner->points, n, sizeof *inner->points) != 0)
        return NULL;
    memset(inner->points + inner->n_points, 0,
           (n - inner->n_points) * sizeof *inner->points);
    inner->n_points = n;
    return &inner->points[id];
}

static void
forget(struct point *p)
{
    free(p->x);
    *p = (struct point){NULL, false, false, false};
}

/* ---- as the filter sees it ---- */

static int
inner_space(void *ctx, const struct tp_space *space)
{
    struct inner *inner = ctx;

    if (space != *inner->of.lent)
        fault(inner, "gave next->space() another search space than it got");
    inner->passed = true;
    free(inner->first);
    inner->first = NULL;
    for (size_t i = 0; i < inner->n_points; i++)
        forget(&inner->points[i]);
    inner->has_space = answer(inner, TP_OK) == TP_OK;
    return inner->has_space ? TP_OK : TP_ERR;
}

static int
mood_of_ask(struct inner *inner)
{
    if (inner->mood == INNER_LATER && inner->asks++ % 2 == 1)
        return TP_LATER;
    if (inner->mood == INNER_DONE && inner->given == 2)
        return TP_DONE;
    return answer(inner, TP_OK);
}

/* Each fifth one goes on with the point of id 0. */
static bool
promotes(const struct inner *inner, uint64_t id)
{
    return inner->first != NULL && id > 0 && id % 5 == 0;
}

static void
suggest(struct inner *inner, uint64_t id, struct tp_suggestion *out)
{
    bool again = promotes(inner, id);

    out->label = NULL;
    out->budget = again ? 1 + (double)id : 0;
    out->from = again ? 0 : TP_NO_ID;
    out->from_how = again ? TP_PROMOTED : TP_ANEW;
    if (again)
        memcpy(out->x, inner->first, point_size(inner));
    else
        space_sample(*inner->of.space, 42, id, out->x);
}

/* Where a filter gives out something else for it, that is id 0's. */
static void
keep_first(struct inner *inner, const double *x)
{
    free(inner->first);
    inner->first = malloc(point_size(inner) + 1);
    if (inner->first != NULL)
        memcpy(inner->first, x, point_size(inner));
}

static int
inner_ask(void *ctx, uint64_t id, struct tp_suggestion *out)
{
    struct inner *inner = ctx;
    struct point *p;
    int rc;

    if (!inner->has_space)
        fault(inner, "called next->ask() before next->space() succeeded");
    else if (inner->asked == TP_NO_ID || id != inner->asked)
        fault(inner,
              "called next->ask() for id %" PRIu64 ", which the host did not "
              "ask for",
              id);
    else if (out == NULL || out->x == NULL)
        fault(inner, "called next->ask() without out->x");
    p = inner->fault[0] != '\0' ? NULL : make(inner, id);
    if (p == NULL)
        return TP_ERR;
    rc = mood_of_ask(inner);
    forget(p);
    if (rc != TP_OK)
        return rc;
    inner->given++;
    suggest(inner, id, out);
    p->known = space_check(*inner->of.space, out->x, NULL) == 0;
    inner->failed |= !p->known;
    return p->known ? TP_OK : TP_ERR;
}

static void
look_at(struct inner *inner, bool tell, uint64_t id, const double *x)
{
    const struct point *p = find(inner, id);
    const char *call = tell ? "tell" : "ended";

    if (p == NULL || !p->known)
        fault(inner,
              "called next->%s() for id %" PRIu64 ", for which next->ask() "
              "did not say TP_OK: tell it with TP_NO_ID, as imported, and do "
              "not end it",
              call, id);
    else if (tell ? p->told : p->ended)
        fault(inner, "called next->%s() for id %" PRIu64 " twice", call, id);
    else if (p->x != NULL && memcmp(p->x, x, point_size(inner)) != 0)
        fault(inner,
              "called next->%s() for id %" PRIu64 " with another x than was "
              "given out",
              call, id);
}

static int
inner_tell(void *ctx, uint64_t id, const double *x,
           const struct tp_result *result)
{
    struct inner *inner = ctx;
    bool foreign =
        result->how == TP_RESULT_IMPORTED || result->how == TP_RESULT_CUSTOM;
    struct point *p = find(inner, id);

    if (foreign != (id == TP_NO_ID))
        fault(inner,
              "called next->tell() for %s with how %d: imported and custom "
              "results have TP_NO_ID, others an id",
              id == TP_NO_ID ? "TP_NO_ID" : "an id", result->how);
    else if (id != TP_NO_ID)
        look_at(inner, true, id, x);
    if (p != NULL)
        p->told = true;
    return answer(inner, TP_OK);
}

static int
inner_ended(void *ctx, uint64_t id, const double *x, int how)
{
    struct inner *inner = ctx;
    struct point *p = find(inner, id);

    (void)how;
    look_at(inner, false, id, x);
    if (p != NULL)
        p->ended = true;
    return answer(inner, TP_OK);
}

static const char *
inner_why(void *ctx)
{
    const struct inner *inner = ctx;

    if (!inner->failed)
        return "";
    return inner->mood == INNER_FAILS ? "tuner inside: it fails each third call"
                                      : "tuner inside: ask: it is no point";
}

static int
inner_takes(void *ctx, const double *x)
{
    struct inner *inner = ctx;

    if (!inner->has_space)
        fault(inner, "called next->takes() before next->space() succeeded");
    else if (space_check(*inner->of.space, x, NULL) != 0)
        fault(inner, "called next->takes() with no point of the space");
    return 1;
}

/* ---- as the check sees it ---- */

struct inner *
inner_new(struct inner_given given, enum inner_mood mood)
{
    struct inner *inner = calloc(1, sizeof *inner);

    if (inner == NULL)
        return NULL;
    inner->of = given;
    inner->mood = mood;
    inner->asked = TP_NO_ID;
    inner->next =
        (struct tp_next){inner,       inner_space, inner_ask,  inner_tell,
                         inner_ended, inner_why,   inner_takes};
    return inner;
}

void
inner_free(struct inner *inner)
{
    if (inner == NULL)
        return;
    for (size_t i = 0; i < inner->n_points; i++)
        free(inner->points[i].x);
    free(inner->points);
    free(inner->first);
    free(inner);
}

void
inner_take_over(struct inner *to, struct inner *from, struct inner_given given)
{
    struct tp_next next;

    if (to == NULL || from == NULL)
        return;
    next = to->next;
    for (size_t i = 0; i < to->n_points; i++)
        free(to->points[i].x);
    free(to->points);
    free(to->first);
    *to = *from;
    to->next = next;
    to->of = given;
    from->points = NULL;
    from->first = NULL;
    from->n_points = 0;
}

const struct tp_next *
inner_next(const struct inner *inner)
{
    return &inner->next;
}

void
inner_enter(struct inner *inner, uint64_t asked)
{
    if (inner == NULL)
        return;
    inner->asked = asked;
    inner->failed = inner->passed = false;
}

bool
inner_failed(const struct inner *inner)
{
    return inner != NULL && inner->failed;
}

void
inner_given(struct inner *inner, uint64_t id, const double *x,
            const struct tp_suggestion *out)
{
    struct point *p = inner == NULL ? NULL : find(inner, id);

    if (p == NULL || !p->known)
        return;
    if (promotes(inner, id) &&
        (out->from_how != TP_PROMOTED || out->from != 0 ||
         out->budget != 1 + (double)id ||
         memcmp(inner->first, x, point_size(inner)) != 0))
        fault(inner,
              "changed what the layer inside promotes, id %" PRIu64
              ": let it through as it is",
              id);
    if (id == 0)
        keep_first(inner, x);
    p->x = malloc(point_size(inner) + 1);
    if (p->x != NULL)
        memcpy(p->x, x, point_size(inner));
}

void
inner_expect_space(struct inner *inner)
{
    if (!inner->passed)
        fault(inner, "kept the search space from the layer inside: call "
                     "next->space()");
    else if (inner->failed)
        fault(inner, "returned TP_OK, though the layer inside refused the "
                     "search space");
}

/* Checks that the filter has passed a tell or an end on; after both nothing
 * more is expected of the point. */
static void
expect(struct inner *inner, uint64_t id, bool tell)
{
    struct point *p = find(inner, id);

    if (p == NULL || !p->known)
        return;
    if (!(tell ? p->told : p->ended))
        fault(inner,
              "kept id %" PRIu64 " from the layer inside, which gave a point "
              "for it: call next->%s()",
              id, tell ? "tell" : "ended");
    if (p->told && p->ended) {
        free(p->x);
        p->x = NULL;
    }
}

void
inner_expect_told(struct inner *inner, uint64_t id)
{
    expect(inner, id, true);
}

void
inner_expect_ended(struct inner *inner, uint64_t id)
{
    expect(inner, id, false);
}

const char *
inner_fault(const struct inner *inner)
{
    return inner == NULL || inner->fault[0] == '\0' ? NULL : inner->fault;
}

/* ---- inner_mood ---- */

const char *
inner_mood_text(enum inner_mood mood)
{
    static const char *const texts[INNER_MOODS] = {
        [INNER_GIVES] = "",
        [INNER_LATER] = "the layer inside says TP_LATER each second time",
        [INNER_DONE] = "the layer inside says TP_DONE after two points",
        [INNER_FAILS] = "the layer inside fails each third call",
    };

    return texts[mood];
}
