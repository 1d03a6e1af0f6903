/* SPDX-License-Identifier: MIT */
/* watch FOLDER PATTERN: prints what the manager of a running experiment tells,
 * line by line, until one has the pattern (fnmatch) in it: status 0.  1: the
 * manager does not let us, or has ended. */
#include "control/client.h"
#include "core/buf.h"
#include "core/err.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
fail(const struct err *err)
{
    fprintf(stderr, "watch: %s\n", err->text);
    return 1;
}

/* The next line as it is. */
static char *
next(struct control_client *l, struct err *err)
{
    const char *newline;
    char *line;
    size_t len;

    while (l->in.len == 0 ||
           (newline = memchr(l->in.data, '\n', l->in.len)) == NULL)
        if (control_client_fill(l, err) < 0)
            return NULL;
    len = (size_t)(newline - l->in.data);
    line = strndup(l->in.data, len);
    buf_consume(&l->in, len + 1);
    return line;
}

int
main(int argc, char **argv)
{
    struct control_client l;
    struct err err = {0};
    char *pattern, *line;
    bool found = false;

    if (argc != 3 || asprintf(&pattern, "*%s*", argv[2]) < 0)
        return 2;
    if (control_client_open(&l, argv[1], &err) != 0 ||
        control_client_send(&l, "{\"command\": \"watch\", \"rows\": 10000}",
                            &err) != 0)
        return fail(&err);
    while (!found && (line = next(&l, &err)) != NULL) {
        puts(line);
        found = fnmatch(pattern, line, 0) == 0;
        free(line);
    }
    control_client_close(&l);
    free(pattern);
    return found ? 0 : fail(&err);
}
