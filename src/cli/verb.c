/* SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include "core/err.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int
status_of(enum err_code code)
{
    switch (code) {
    case ERR_USAGE:
        return EXIT_USAGE;
    case ERR_CONFIG:
        return EXIT_CONFIG;
    case ERR_PROTOCOL:
        return EXIT_PROTOCOL;
    case ERR_LOG:
        return EXIT_LOG;
    case ERR_NONE:
    case ERR_INPUT:
    case ERR_PLUGIN:
    case ERR_MEMORY:
    case ERR_SYSTEM:
        break;
    }
    return EXIT_FAILED;
}

int
verb_fail(const char *verb, const struct err *err)
{
    fprintf(stderr, "tunepipe %s: error: %s\n", verb, err->text);
    return status_of(err->code);
}

int
verb_shield_stdout(struct err *err)
{
    int fd = fcntl(1, F_DUPFD_CLOEXEC, 3);

    if (fd < 0 || dup2(2, 1) < 0)
        return err_errno(err, ERR_SYSTEM, "standard output");
    return fd;
}
