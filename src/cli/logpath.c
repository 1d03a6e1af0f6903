/* SPDX-License-Identifier: MIT */
#include "cli/logpath.h"

#include "core/err.h"
#include "core/file.h"
#include "dispatcher/commandlog.h"

#include <string.h>
#include <sys/stat.h>

char *
logpath(const char *word, struct err *err)
{
    struct stat st;
    char *path = stat(word, &st) == 0 && S_ISDIR(st.st_mode)
                     ? file_join(word, COMMANDLOG_NAME)
                     : strdup(word);

    if (path == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    return path;
}
