/* SPDX-License-Identifier: MIT */
#include "runner/changes.h"

#include <string.h>
#include <unistd.h>

static const char *
find(char *const *env, const char *name, size_t len)
{
    for (; *env != NULL; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    return NULL;
}

/* One that has something put before ours keeps what has been made of that
 * there, such as a PATH with modules. */
static void
tell(const char *var, size_t len, changes_hear *hear, void *ctx)
{
    const char *ours = find(environ, var, len), *value = var + len + 1;
    size_t size = strlen(value), rest = ours != NULL ? strlen(ours) : 0;

    if (ours != NULL && strcmp(ours, value) == 0)
        return;
    if (rest > 0 && size > rest && strcmp(value + size - rest, ours) == 0)
        hear(ctx, var, len, value, size - rest, true);
    else
        hear(ctx, var, len, value, size, false);
}

void
changes_tell(char *const *env, changes_hear *hear, void *ctx)
{
    for (char *const *var = env; *var != NULL; var++)
        if (strchr(*var, '=') != NULL)
            tell(*var, strcspn(*var, "="), hear, ctx);
    for (char **var = environ; *var != NULL; var++) {
        size_t len = strcspn(*var, "=");

        if (strncmp(*var, "SLURM_", 6) != 0 && find(env, *var, len) == NULL)
            hear(ctx, *var, len, NULL, 0, false);
    }
}
