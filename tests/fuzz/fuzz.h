/* SPDX-License-Identifier: MIT */
/* fuzz.h - a fuzz target is a file that defines LLVMFuzzerTestOneInput():
 * libFuzzer calls it with bytes of its making (`make fuzz`), driver.c with
 * each file of tests/fuzz/corpus/TARGET (`make check`).
 *
 * MUST(cond) ends the process with a line when a property does not hold. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(cond)                                                       \
    do {                                                                 \
        if (!(cond)) {                                                   \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, \
                    #cond);                                              \
            abort();                                                     \
        }                                                                \
    } while (0)

#endif
