/* SPDX-License-Identifier: MIT */
/* fuzz_file.h - the input as a file, for what reads files by name. */
#ifndef TESTS_FUZZ_FILE_H
#define TESTS_FUZZ_FILE_H

#include "fuzz.h"

#include "core/file.h"

#include <string.h>
#include <unistd.h>

struct fuzz_file {
    char folder[64], path[80];
};

/* In a new folder of its own. */
static inline void
fuzz_file_write(struct fuzz_file *f, const void *data, size_t size)
{
    snprintf(f->folder, sizeof f->folder, "%s/tunepipe-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    MUST(mkdtemp(f->folder) != NULL);
    snprintf(f->path, sizeof f->path, "%s/file", f->folder);
    MUST(file_write(f->path, data, size, NULL) == 0);
}

static inline void
fuzz_file_remove(struct fuzz_file *f)
{
    unlink(f->path);
    rmdir(f->folder);
}

#endif
