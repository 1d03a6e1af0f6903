/* SPDX-License-Identifier: MIT */
#include "cli/verb.h"

#include "cli/options.h"
#include "core/err.h"

#include <fcntl.h>
#include <stdbool.h>
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

static const char *
or_dash(const char *text)
{
    return text == NULL ? "-" : text;
}

void
verb_list(const struct verb *const *verbs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct verb *v = verbs[i];

        printf("%s\t-\t%s\t%s\n", v->name, or_dash(v->operand), v->summary);
        for (size_t k = 0; k < v->n_options; k++)
            printf("%s\t--%s\t%s\t\n", v->name, v->options[k].name,
                   or_dash(v->options[k].value));
    }
}

int
verb_printed(const char *verb, int status)
{
    struct err err = {0};
    bool failed = ferror(stdout) != 0;

    if (fflush(stdout) != 0)
        err_errno(&err, ERR_SYSTEM, "cannot write to stdout");
    else if (failed)
        err_set(&err, ERR_SYSTEM, "cannot write all to stdout");
    else
        return status;
    return status == EXIT_DONE ? verb_fail(verb, &err) : status;
}

struct json_writer *
verb_json_begin(struct verb_json *line)
{
    buf_init(&line->text, SIZE_MAX / 2);
    line->writer = json_begin_object(&line->text);
    return &line->writer;
}

int
verb_json_print(struct verb_json *line, FILE *out, struct err *err)
{
    int rc;

    json_end(&line->writer);
    rc = buf_check(&line->text, "a line of JSON", err);
    if (rc == 0)
        fprintf(out, "%s\n", buf_text(&line->text));
    buf_fini(&line->text);
    return rc;
}

int
verb_shield_stdout(struct err *err)
{
    int fd = fcntl(1, F_DUPFD_CLOEXEC, 3);

    if (fd < 0 || dup2(2, 1) < 0)
        return err_errno(err, ERR_SYSTEM, "standard output");
    return fd;
}

FILE *
verb_own_stdout(struct err *err)
{
    int fd = verb_shield_stdout(err);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

    if (fd >= 0 && out == NULL)
        err_errno(err, ERR_SYSTEM, "standard output");
    return out;
}
