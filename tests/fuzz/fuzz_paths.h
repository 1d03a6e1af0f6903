/* SPDX-License-Identifier: MIT */
/* fuzz_paths.h - where the plugins of the same build lie. */
#ifndef TESTS_FUZZ_PATHS_H
#define TESTS_FUZZ_PATHS_H

#include "fuzz.h"

#include "plugin/paths.h"

#include <libgen.h>
#include <unistd.h>

/* To be freed. */
static inline struct plugin_paths *
fuzz_paths_open(void)
{
    char program[4000], folder[4096];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    struct plugin_paths *paths;

    MUST(len > 0);
    program[len] = '\0';
    snprintf(folder, sizeof folder, "%s/../plugins", dirname(program));
    paths = plugin_paths_new(folder, NULL);
    MUST(paths != NULL);
    return paths;
}

#endif
