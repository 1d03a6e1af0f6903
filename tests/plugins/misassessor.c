/* SPDX-License-Identifier: MIT */
/* An assessor that treats what it is lent wrongly, one way each, in trial 1;
 * it says what it sees of each trial. */
#include "base.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct tp_arg args[] = {
    {"trial", TP_ARG_INT, 0, "1", 0, 1e9, NULL, "the trial that is wrong"},
    {"how", TP_ARG_STRING, 0, NULL, 0, 0,
     "values|members|crashes|hangs|returns 99|decides 7|prints|ended crashes",
     "in which way"},
};

static void
say(const struct base *self, const struct tp_history *h)
{
    tp_log(self->host, TP_LOG_INFO, "%llu: %zu from %g to %g",
           (unsigned long long)h->trial, h->n, h->values[0],
           h->values[h->n - 1]);
}

static void
die(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static int
assess(void *vself, const struct tp_history *h, struct tp_verdict *out)
{
    struct base *self = vself;
    int is_one = h->trial == (uint64_t)self->number;

    say(self, h);
    if (!is_one)
        return TP_OK;
    if (strcmp(self->text, "values") == 0)
        for (size_t i = 0; i < h->n; i++)
            ((double *)(uintptr_t)h->values)[i] = -1;
    if (strcmp(self->text, "members") == 0) {
        memset((void *)(uintptr_t)h, 0xff, sizeof *h);
        out->_struct_size = 0;
    }
    if (strcmp(self->text, "crashes") == 0)
        die();
    while (strcmp(self->text, "hangs") == 0)
        pause();
    if (strcmp(self->text, "returns 99") == 0)
        return 99;
    if (strcmp(self->text, "decides 7") == 0)
        out->decision = 7;
    if (strcmp(self->text, "prints") == 0) {
        printf("KI00000000000007\"00000\"");
        fflush(stdout);
    }
    return TP_OK;
}

static int
ended(void *vself, const struct tp_history *h, int how)
{
    struct base *self = vself;

    (void)how;
    say(self, h);
    if (h->trial == (uint64_t)self->number &&
        strcmp(self->text, "ended crashes") == 0)
        die();
    return TP_OK;
}

static const struct tp_assessor assessor = {
    BASE_ASSESSOR("misassessor", "treats what it is lent wrongly"),
    .args = TP_ARGS(args),
    .config = base_config,
    .assess = assess,
    .ended = ended,
};
TP_REGISTER_ASSESSOR(assessor)
