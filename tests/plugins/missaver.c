/* SPDX-License-Identifier: MIT */
/* A tuner that counts what it was asked and gives the n-th sample of the prior;
 * `how` is the way in which it saves that wrongly, or "well". */
#include "base.h"

#include <signal.h>
#include <string.h>

static const struct tp_arg args[] = {
    {"from", TP_ARG_INT, 0, "0", 0, 1e9, NULL, "not looked at"},
    {"how", TP_ARG_STRING, 0, "\"well\"", 0, 0, NULL, "in which way"},
};

#define N_MARKS 4

static const char marks[N_MARKS + 1] = "abcd";

static int
is(const struct base *self, const char *how)
{
    return strcmp(self->text, how) == 0;
}

static int
fail(const struct base *self, const char *why)
{
    return tp_error(self->host, "%s", why);
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct base *self = vself;

    (void)id;
    tp_sample(self->host, self->asked++, out->x);
    return TP_OK;
}

static int
save(void *vself, const struct tp_sink *sink)
{
    struct base *self = vself;
    uint64_t n = 0;

    if (is(self, "save fails") && self->asked > 1)
        return fail(self, "there is no pen");
    if (is(self, "save silent"))
        return TP_ERR;
    if (is(self, "save 99"))
        return 99;
    if (is(self, "changes"))
        self->asked++;
    if (!is(self, "forgets"))
        n = self->asked;
    tp_put_u64(sink, n);
    if (is(self, "grows"))
        tp_put_u64(sink, self->ended); /* times it was loaded */
    tp_put_u64(sink, n % N_MARKS);
    tp_put_bytes(sink, marks, n % N_MARKS);
    return TP_OK;
}

/* Trusts the count that it reads when it is told to. */
static int
load_marks(struct base *self, const struct tp_source *source)
{
    char got[N_MARKS];
    uint64_t n;

    tp_get_u64(source, &n);
    if (n >= N_MARKS && is(self, "trusts")) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    while (n >= N_MARKS && is(self, "loops"))
        continue;
    if (n >= N_MARKS)
        return fail(self, "there are too many marks");
    if (tp_get_bytes(source, got, (size_t)n) != TP_OK && !is(self, "careless"))
        return fail(self, "the marks are missing");
    return TP_OK;
}

static int
load(void *vself, const struct tp_source *source)
{
    struct base *self = vself;
    uint64_t loaded;

    if (is(self, "load fails"))
        return fail(self, "it cannot read");
    if (is(self, "load silent"))
        return TP_ERR;
    if (tp_get_u64(source, &self->asked) != TP_OK && !is(self, "careless"))
        return fail(self, "the count is missing");
    if (is(self, "grows")) {
        tp_get_u64(source, &loaded);
        self->ended = loaded + 1;
    }
    if (is(self, "leaves"))
        return TP_OK;
    if (load_marks(self, source) != TP_OK)
        return TP_ERR;
    if (is(self, "reads on"))
        tp_get_u64(source, &loaded);
    return TP_OK;
}

static const struct tp_tuner tuner = {
    BASE_TUNER("missaver", "saves what it knows wrongly"),
    .args = TP_ARGS(args),
    .config = base_config,
    .ask = ask,
    .save = save,
    .load = load,
};
TP_REGISTER_TUNER(tuner)
