/* SPDX-License-Identifier: MIT */
#include "manager/indexing.h"

#include "config/experiment.h"
#include "core/err.h"
#include "core/file.h"
#include "core/process.h"
#include "manager/state.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Nothing waits for it, or for its end. */
static int
spawn(const char *const argv[], const char *words, struct err *err)
{
    int fd = open(words, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const struct process_spawn how = {
        .argv = argv, .files = {PROCESS_NULL, PROCESS_NULL, fd}};
    int rc = 0;

    if (fd < 0 || process_spawn(&how, NULL, NULL) < 0)
        rc = err_errno(err, ERR_SYSTEM, "%s: cannot start", argv[0]);
    if (fd >= 0)
        close(fd);
    return rc;
}

void
indexing_start(struct manager *m)
{
    struct err err = {.text = "out of memory"};
    char *program, *words;
    int rc = -1;

    if (!m->x->index)
        return;
    program = file_join(m->launch.program_folder, "tunepipe");
    words = file_join(m->folder.path, FOLDER_INDEX_LOG);
    if (program != NULL && words != NULL)
        rc = spawn((const char *const[]){program, "index", "--follow",
                                         m->folder.path, NULL},
                   words, &err);
    if (rc != 0)
        progress_warn(&m->progress, "tunepipe: warning: index: %s", err.text);
    free(words);
    free(program);
}
