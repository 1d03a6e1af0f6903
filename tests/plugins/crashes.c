/* SPDX-License-Identifier: MIT */
/* A tuner that dies of a signal when asked for one id, again and again. */
#include "base.h"

#include <signal.h>
#include <string.h>

static const struct tp_arg args[] = {
    {"id", TP_ARG_INT, 0, "2", 0, 1e9, NULL, "the id that kills it"},
    {"signal", TP_ARG_STRING, 0, "\"segv\"", 0, 0, "segv|abrt|bus|ill|fpe",
     "what it dies of"},
};

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"segv", SIGSEGV},
                   {"abrt", SIGABRT},
                   {"bus", SIGBUS},
                   {"ill", SIGILL},
                   {"fpe", SIGFPE}};
    struct base *self = vself;

    if (id != (uint64_t)self->number)
        return base_ask(self, id, out);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (strcmp(self->text, signals[i].name) == 0) {
            signal(signals[i].number, SIG_DFL);
            raise(signals[i].number);
        }
    return TP_ERR;
}

static const struct tp_tuner tuner = {
    BASE_TUNER("crashes", "dies when asked for one id"),
    .args = TP_ARGS(args),
    .config = base_config,
    .ask = ask,
};
TP_REGISTER_TUNER(tuner)
