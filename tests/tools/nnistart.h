/* SPDX-License-Identifier: MIT */
/* nnistart.h - what NNI's manager gives to a dispatcher that it starts: the
 * experiment's configuration as an argument, and an environment.  The folders
 * are below the current one. */
#ifndef TESTS_TOOLS_NNISTART_H
#define TESTS_TOOLS_NNISTART_H

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* RFC 4648, with padding; to be freed. */
static inline char *
nni_base64(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = strlen(text), at = 0;
    char *out = calloc(1, (n + 2) / 3 * 4 + 1);

    for (size_t i = 0; i < n; i += 3) {
        unsigned bits = 0;

        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (i + k < n ? (unsigned char)text[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            out[at++] = i + k > n ? '=' : letters[bits >> (18 - 6 * k) & 63];
    }
    return out;
}

/* ./NAME as an absolute path, in variable VARIABLE unless that is set. */
static inline void
nni_folder(const char *variable, const char *name)
{
    char path[4096];
    size_t len;

    if (getcwd(path, sizeof path - 32) == NULL)
        return;
    len = strlen(path);
    snprintf(path + len, sizeof path - len, "/%s", name);
    if (getenv(variable) == NULL)
        mkdir(path, 0700); /* as the manager does */
    setenv(variable, path, 0);
}

/* What is set already stays. */
static inline void
nni_environment(void)
{
    setenv("SDK_PROCESS", "dispatcher", 0);
    setenv("NNI_MODE", "start", 0);
    setenv("NNI_LOG_LEVEL", "info", 0);
    setenv("NNI_INCLUDE_INTERMEDIATE_RESULTS", "false", 0);
    setenv("CUDA_VISIBLE_DEVICES", "", 0);
    nni_folder("NNI_CHECKPOINT_DIRECTORY", "log");
    nni_folder("NNI_LOG_DIRECTORY", "logs");
}

#endif
