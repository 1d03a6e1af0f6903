/* SPDX-License-Identifier: MIT */
/* A filter that is wrong, one way each. */
#include "tunepipe/filter.h"

#include "base.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const struct tp_arg args[] = {
    {"n", TP_ARG_INT, 0, "0", 0, 1e9, NULL, "not looked at"},
    {"how", TP_ARG_STRING, 0, NULL, 0, 0,
     "keeps space|keeps tell|keeps ended|tells unknown|ends unknown|"
     "tells twice|ends twice|tells other|imports with id|asks other|"
     "asks early|early ok|blames itself|silent|wrong code|other space|beyond|"
     "scribbles|crashes|hangs|leaks|clock|slow|prints|umask",
     "in which way"},
};

static int
is(const struct base *self, const char *how)
{
    return strcmp(self->text, how) == 0;
}

static void
lose(void)
{
    void *volatile lost = malloc(40); /* a compiler would leave it out */

    (void)lost;
}

/* Whether a sample was given out for id; for ids below 64. */
static int
is_sample(const struct base *self, uint64_t id)
{
    return id < 64 && (self->ended >> id & 1) != 0;
}

static void
spin(void)
{
    clock_t until = clock() + CLOCKS_PER_SEC / 200;

    while (clock() < until)
        continue;
}

static int
space(void *vself, const struct tp_next *next, const struct tp_space *given)
{
    struct base *self = vself;
    struct tp_space other = *given;
    struct tp_suggestion out = {._struct_size = sizeof out};
    int rc;

    if (is(self, "keeps space"))
        return TP_OK;
    if (is(self, "asks early"))
        next->ask(next->ctx, 0, &out);
    rc = next->space(next->ctx, is(self, "other space") ? &other : given);
    return is(self, "early ok") ? TP_OK : rc;
}

static int
fails(const struct base *self, const struct tp_next *next)
{
    if (is(self, "blames itself"))
        tp_error(self->host, "it failed: %s", next->why(next->ctx));
    return TP_ERR;
}

/* What is wrong before it is passed on. */
static void
misbehave(struct base *self, const struct tp_next *next,
          struct tp_suggestion *out)
{
    self->asked++;
    if (is(self, "asks other"))
        next->ask(next->ctx, 77, out);
    if (is(self, "leaks"))
        lose();
    if (is(self, "slow") && self->asked > 9900)
        spin();
    if (is(self, "prints"))
        puts("hello");
    if (is(self, "umask"))
        umask(0);
    if (is(self, "crashes") && self->asked == 3) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    while (is(self, "hangs") && self->asked == 3)
        pause();
}

static const char *
label_of(time_t now)
{
    static char label[32];

    snprintf(label, sizeof label, "at %lld", (long long)now);
    return label;
}

static int
ask(void *vself, const struct tp_next *next, uint64_t id,
    struct tp_suggestion *out)
{
    struct base *self = vself;
    int rc;

    misbehave(self, next, out);
    rc = next->ask(next->ctx, id, out);
    if (rc == TP_ERR)
        return fails(self, next);
    if (is(self, "silent"))
        return TP_ERR;
    if (is(self, "wrong code"))
        return 99;
    if (is(self, "beyond"))
        for (size_t i = 0; i < 6; i++)
            out->x[i] = i == 1 ? 2 : out->x[i]; /* u, of the mixed space */
    if (is(self, "clock"))
        out->label = label_of(time(NULL));
    if (rc != TP_OK &&
        (is(self, "tells unknown") || is(self, "ends unknown"))) {
        self->ended |= (uint64_t)1 << id % 64;
        tp_sample(self->host, id, out->x);
        return TP_OK;
    }
    return rc;
}

static int
tell_other(const struct tp_next *next, uint64_t id, const double *x,
           const struct tp_result *result)
{
    double other[6];

    memcpy(other, x, sizeof other); /* of the mixed space */
    other[1] = 0.125;
    return next->tell(next->ctx, id, other, result);
}

static int
tell(void *vself, const struct tp_next *next, uint64_t id, const double *x,
     const struct tp_result *result)
{
    struct base *self = vself;
    struct tp_result imported = *result;

    imported.how = TP_RESULT_IMPORTED;
    if (is(self, "keeps tell") ||
        (is(self, "ends unknown") && is_sample(self, id)))
        return TP_OK;
    if (is(self, "tells other"))
        return tell_other(next, id, x, result);
    if (is(self, "imports with id"))
        return next->tell(next->ctx, id, x, &imported);
    if (is(self, "tells twice"))
        next->tell(next->ctx, id, x, result);
    if (next->tell(next->ctx, id, x, result) == TP_ERR)
        return fails(self, next);
    if (is(self, "scribbles"))
        ((double *)(uintptr_t)x)[1] += 1;
    return TP_OK;
}

static int
ended(void *vself, const struct tp_next *next, uint64_t id, const double *x,
      int how)
{
    struct base *self = vself;

    if (is(self, "keeps ended"))
        return TP_OK;
    if (is(self, "ends twice"))
        next->ended(next->ctx, id, x, how);
    if (next->ended(next->ctx, id, x, how) == TP_ERR)
        return fails(self, next);
    return TP_OK;
}

static const struct tp_filter filter = {
    TP_FILTER_HEAD,  .name = "badfilter",   .doc = "is wrong in one way",
    .version = 1,    .args = TP_ARGS(args), .create = base_create,
    .destroy = free, .config = base_config, .space = space,
    .ask = ask,      .tell = tell,          .ended = ended,
};
TP_REGISTER_FILTER(filter)
