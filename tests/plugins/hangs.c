/* SPDX-License-Identifier: MIT */
/* A tuner that never returns when asked for one id. */
#include "base.h"

#include <fcntl.h>
#include <unistd.h>

static const struct tp_arg args[] = {
    {"id", TP_ARG_INT, 0, "2", 0, 1e9, NULL, "the id that it hangs on"},
    {"once", TP_ARG_STRING, 0, "\"\"", 0, 0, NULL,
     "a file, made then; where it is, it does not hang"},
};

static int
has_hung(const char *file)
{
    int fd;

    if (file[0] == '\0')
        return 0;
    fd = open(file, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (fd >= 0)
        close(fd);
    return fd < 0;
}

static int
ask(void *vself, uint64_t id, struct tp_suggestion *out)
{
    struct base *self = vself;

    if (id == (uint64_t)self->number && !has_hung(self->text))
        for (;;)
            pause();
    return base_ask(self, id, out);
}

static const struct tp_tuner tuner = {
    BASE_TUNER("hangs", "never returns for one id"),
    .args = TP_ARGS(args),
    .config = base_config,
    .ask = ask,
};
TP_REGISTER_TUNER(tuner)
