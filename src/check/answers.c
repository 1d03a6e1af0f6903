/* SPDX-License-Identifier: MIT */
#include "check/answers.h"

#include "core/err.h"

#include <string.h>

#define SHOWN 160

static int
line_length(const char *line)
{
    size_t len = strcspn(line, "\n");

    return (int)(len < SHOWN ? len : SHOWN);
}

int
answers_compare(const char *first, const char *second, struct err *err)
{
    const char *heading = "";

    for (;;) {
        size_t a = strcspn(first, "\n"), b = strcspn(second, "\n");

        if (a != b || memcmp(first, second, a) != 0)
            break;
        if (first[a] == '\0' || second[b] == '\0') {
            if (first[a] == second[b])
                return 0;
            break;
        }
        if (first[0] == '#')
            heading = first + 1 + (first[1] == ' ');
        first += a + 1;
        second += b + 1;
    }
    return err_set(err, ERR_PLUGIN,
                   "first '%.*s', then '%.*s', with the same seed and calls; "
                   "%.*s",
                   line_length(first), first, line_length(second), second,
                   line_length(heading), heading);
}
