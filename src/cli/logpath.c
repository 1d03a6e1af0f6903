/* SPDX-License-Identifier: MIT */
#include "cli/logpath.h"

#include "core/err.h"
#include "core/file.h"
#include "dispatcher/commandlog.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "an experiment's folder, with " COMMANDLOG_NAME

/* Takes the path. */
static char *
check(char *path, const char *expected, struct err *err)
{
    if (path == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
    } else if (access(path, F_OK) != 0) {
        err_errno(err, ERR_LOG, "%s: cannot open, expected %s", path, expected);
        free(path);
        path = NULL;
    }
    return path;
}

char *
logpath_in(const char *folder, struct err *err)
{
    return check(file_join(folder, COMMANDLOG_NAME), FOLDER, err);
}

char *
logpath(const char *word, struct err *err)
{
    struct stat st;

    if (stat(word, &st) == 0 && S_ISDIR(st.st_mode))
        return logpath_in(word, err);
    return check(strdup(word), "a command log or " FOLDER, err);
}
