/* SPDX-License-Identifier: MIT */
/* A tuner that leaves a process with copies of all descriptors behind when it
 * crashes, or that never returns from being destroyed. */
#include "base.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static const struct tp_arg args[] = {
    {"id", TP_ARG_INT, 0, "1000000", 0, 1e9, NULL, "the id that kills it"},
    {"pid", TP_ARG_STRING, 0, "\"\"", 0, 0, NULL,
     "a file, for the process that stays; empty: destroying it hangs"},
};

static void
stay(const char *file)
{
    FILE *f = fopen(file, "w");

    if (f != NULL) {
        fprintf(f, "%d", (int)getpid());
        fclose(f);
    }
    signal(SIGTERM, SIG_DFL);
    close(2); /* whoever reads that is not to wait for us */
    close(1);
    for (;;)
        pause();
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct base *self = vself;

    if (id != (uint64_t)self->number)
        return base_ask(self, id, out);
    if (fork() == 0)
        stay(self->text);
    while (access(self->text, R_OK) != 0)
        usleep(1000);
    abort();
}

static void
destroy(void *vself)
{
    struct base *self = vself;

    while (self->text == NULL || self->text[0] == '\0')
        pause();
    free(self);
}

static const struct tp_tuner tuner = {
    TP_TUNER_HEAD,
    .name = "lingers",
    .doc = "does not end with its process",
    .version = 1,
    .create = base_create,
    .destroy = destroy,
    .tell = tp_tell_nothing,
    .args = TP_ARGS(args),
    .config = base_config,
    .ask = ask,
};
TP_REGISTER_TUNER(tuner)
