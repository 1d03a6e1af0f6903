/* SPDX-License-Identifier: MIT */
/* folder.h - for benchmarks: the folder that a command log lies in, whatever
 * files it is made of. */
#ifndef TESTS_BENCH_FOLDER_H
#define TESTS_BENCH_FOLDER_H

#include "child.h"
#include "core/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file in it, to be freed. */
static inline char *
folder_file(const char *folder, const char *name)
{
    char *path = file_join(folder, name);

    if (path == NULL)
        child_die("out of memory");
    return path;
}

/* Bytes of the files whose names end in `suffix`; 0: there is no folder. */
static inline uint64_t
folder_bytes(const char *path, const char *suffix)
{
    DIR *folder = opendir(path);
    uint64_t bytes = 0;
    struct dirent *e;

    while (folder != NULL && (e = readdir(folder)) != NULL) {
        size_t len = strlen(e->d_name), n = strlen(suffix);
        struct stat st;

        if (len >= n && strcmp(e->d_name + len - n, suffix) == 0 &&
            fstatat(dirfd(folder), e->d_name, &st, 0) == 0)
            bytes += (uint64_t)st.st_size;
    }
    if (folder != NULL)
        closedir(folder);
    return bytes;
}

/* Removes the command log in it, and the folder when nothing else is there. */
static inline void
folder_remove(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *e;

    while (folder != NULL && (e = readdir(folder)) != NULL)
        if (strncmp(e->d_name, "command.", 8) == 0)
            unlinkat(dirfd(folder), e->d_name, 0);
    if (folder != NULL)
        closedir(folder);
    rmdir(path);
}

#endif
