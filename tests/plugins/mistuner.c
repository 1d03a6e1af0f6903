/* SPDX-License-Identifier: MIT */
/* A tuner that treats what it is lent wrongly, one way each, from id 2 on.  It
 * says of each point whose end it is told whether it is the one it was told
 * the result of. */
#include "base.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct tp_arg args[] = {
    {"from", TP_ARG_INT, 0, "2", 0, 1e9, NULL, "the first id that is wrong"},
    {"how", TP_ARG_STRING, 0, NULL, 0, 0,
     "nan|beyond|unwritten|sizes|lost|tell x|tell 99|tell crashes|"
     "tell hangs|ended x|ended prints|config crashes|waits",
     "in which way"},
};

static int
is(const struct base *self, uint64_t id, const char *how)
{
    return id >= (uint64_t)self->number && strcmp(self->text, how) == 0;
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct base *self = vself;
    uint64_t key[2];

    if (is(self, id, "unwritten"))
        return TP_OK;
    base_ask(self, id, out);
    while (is(self, id, "waits") &&
           self->host->key(self->host->ctx, out->x, key) != TP_OK)
        tp_sample(self->host, id, out->x);
    if (is(self, id, "nan"))
        out->x[0] = NAN;
    else if (is(self, id, "beyond"))
        out->x[0] = 1e300;
    else if (is(self, id, "sizes"))
        out->_struct_size = 0;
    else if (is(self, id, "lost")) {
        out->x = NULL;
        out->label = "no point";
        return tp_error(self->host, "the point is lost");
    }
    return TP_OK;
}

static void
die(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static int
config(void *vself, const struct tp_value *values, size_t n)
{
    struct base *self = vself;

    base_config(self, values, n);
    if (strcmp(self->text, "config crashes") == 0)
        die();
    return TP_OK;
}

static void
scribble(const double *x)
{
    double *theirs = (double *)(uintptr_t)x;

    theirs[0] = 0.125;
}

static int
tell(void *vself, uint64_t id, const double *x, const struct tp_result *result)
{
    struct base *self = vself;

    if (is(self, id, "sizes"))
        memset((void *)(uintptr_t)result, 0, sizeof *result);
    if (is(self, id, "tell x"))
        scribble(x);
    if (is(self, id, "tell 99"))
        return 99;
    if (is(self, id, "tell crashes"))
        die();
    while (is(self, id, "tell hangs"))
        pause();
    return TP_OK;
}

static int
ended(void *vself, uint64_t id, const double *x, int how)
{
    struct base *self = vself;

    (void)how;
    /* Who waits comes as far as spaces without a dimension. */
    if (strcmp(self->text, "waits") != 0)
        tp_log(self->host, TP_LOG_INFO, "%llu ended at %g",
               (unsigned long long)id, x[0]);
    if (is(self, id, "ended x"))
        scribble(x);
    if (is(self, id, "ended prints")) {
        printf("KI00000000000002\"\"");
        fflush(stdout);
    }
    return TP_OK;
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "mistuner",
    .doc = "treats what it is lent wrongly",
    .version = 1,
    .args = TP_ARGS(args),
    .create = base_create,
    .destroy = free,
    .config = config,
    .ask = ask,
    .tell = tell,
    .ended = ended,
};
TP_REGISTER_TUNER(tuner)
