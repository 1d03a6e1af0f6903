/* SPDX-License-Identifier: MIT */
/* fuzz.h - a fuzz target is a file that defines LLVMFuzzerTestOneInput():
 * libFuzzer calls it with bytes of its making (`make fuzz`), driver.c with
 * each file of tests/fuzz/corpus/TARGET (`make check`), and with some mutants
 * of it where the target makes them itself.
 *
 * MUST(cond) ends the process with a line when a property does not hold. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A target may define this one: it changes the input, in place, and returns
 * its new size.  It may call LLVMFuzzerMutate(), which libFuzzer or else
 * driver.c has. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#define MUST(cond)                                                       \
    do {                                                                 \
        if (!(cond)) {                                                   \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, \
                    #cond);                                              \
            abort();                                                     \
        }                                                                \
    } while (0)

#endif
