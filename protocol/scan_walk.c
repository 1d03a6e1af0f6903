/* SPDX-License-Identifier: MIT */
/* The part of scan.h that knows the order of tokens in a whole value. */
#include "scan.h"

/* Where walk() stands inside a value. */
struct walk {
    struct scan *s;
    uint64_t objects; /* one bit for each open bracket: set for an object */
    unsigned depth;
    bool only_int64; /* refuse integers beyond 64 bits */
};

static bool
refuse(struct walk *w, const struct scan_token *t, const char *problem)
{
    scan_refuse(w->s, t, problem);
    return false;
}

static bool
open_bracket(struct walk *w, const struct scan_token *t)
{
    if (w->depth == JSON_DEPTH_MAX)
        return refuse(w, t, "nested too deeply");
    w->objects = w->objects << 1 | (t->type == SCAN_OPEN_OBJECT);
    w->depth++;
    return true;
}

/* A key and its colon; *t is then the token after it. */
static bool
walk_key(struct walk *w, struct scan_token *t)
{
    if (t->type != SCAN_STRING)
        return refuse(w, t, "expected a key in double quotes");
    *t = scan_next(w->s);
    if (t->type != SCAN_COLON)
        return refuse(w, t, "expected ':'");
    *t = scan_next(w->s);
    return true;
}

static bool
fits_64_bits(const struct scan_token *t)
{
    int64_t i;
    uint64_t u;

    return !scan_is_integer(t) || scan_int(t, &i) || scan_uint(t, &u);
}

/* After a whole value: closes what ends here.  *t becomes the token that
 * begins the next value, unless the outermost value is complete. */
static bool
walk_after(struct walk *w, struct scan_token *t)
{
    while (w->depth > 0) {
        bool object = w->objects & 1;

        *t = scan_next(w->s);
        if (t->type == SCAN_COMMA) {
            *t = scan_next(w->s);
            return !object || walk_key(w, t);
        }
        if (t->type != (object ? SCAN_CLOSE_OBJECT : SCAN_CLOSE_ARRAY))
            return refuse(
                w, t, object ? "expected ',' or '}'" : "expected ',' or ']'");
        w->objects >>= 1;
        w->depth--;
    }
    return true;
}

/* One value, or the opening bracket of one.  *again: *t begins another. */
static bool
walk_value(struct walk *w, struct scan_token *t, bool *again)
{
    bool object = t->type == SCAN_OPEN_OBJECT;

    *again = false;
    if (object || t->type == SCAN_OPEN_ARRAY) {
        if (!open_bracket(w, t))
            return false;
        *t = scan_next(w->s);
        if (t->type != (object ? SCAN_CLOSE_OBJECT : SCAN_CLOSE_ARRAY)) {
            *again = true;
            return !object || walk_key(w, t);
        }
        w->objects >>= 1;
        w->depth--;
    } else if (t->type < SCAN_NULL || t->type > SCAN_STRING) {
        return refuse(w, t, "expected a value");
    } else if (w->only_int64 && t->type == SCAN_NUMBER && !fits_64_bits(t)) {
        return refuse(w, t, "integer beyond 64 bits");
    }
    if (!walk_after(w, t))
        return false;
    *again = w->depth > 0;
    return true;
}

static bool
walk(struct scan *s, struct scan_token t, bool only_int64)
{
    struct walk w = {.s = s, .only_int64 = only_int64};
    bool again = true;

    while (again)
        if (!walk_value(&w, &t, &again))
            return false;
    return true;
}

bool
scan_skip_from(struct scan *s, struct scan_token first)
{
    if (first.type >= SCAN_NULL && first.type <= SCAN_STRING)
        return true; /* the commonest, spared the walk */
    return walk(s, first, false);
}

bool
scan_skip(struct scan *s)
{
    return walk(s, scan_next(s), false);
}

int
scan_check(const char *text, size_t len, unsigned flags, struct err *err)
{
    struct scan s = {.text = text, .len = len, .flags = flags};
    struct scan_token t;

    if (!walk(&s, scan_next(&s), true))
        return scan_error(&s, err);
    t = scan_next(&s);
    if (t.type == SCAN_END)
        return 0;
    scan_refuse(&s, &t, "expected the end of the text");
    return scan_error(&s, err);
}
