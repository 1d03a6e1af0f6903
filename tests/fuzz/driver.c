/* SPDX-License-Identifier: MIT */
/* What a fuzz target is linked with where libFuzzer is not: calls it with
 * each file named on the command line, and its mutants. */
#include "fuzz.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/crc32c.h"
#include "core/file.h"

#include <string.h>

#define N_MUTANTS 32

__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                                     size_t max_size,
                                                     unsigned seed);

/* Not libFuzzer's skill: turns one bit. */
size_t
LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
    uint32_t any = crc32c(0, data, size);

    (void)max_size;
    if (size > 0)
        data[any % size] ^= (uint8_t)(1u << (any >> 29));
    return size;
}

/* Each a mutant of the one before. */
static int
play_mutants(const struct buf *b, struct err *err)
{
    size_t size = b->len, max = b->len + 256;
    uint8_t *data = malloc(max);

    if (data == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    memcpy(data, b->data ? b->data : "", size);
    for (unsigned seed = 0; seed < N_MUTANTS; seed++) {
        size = LLVMFuzzerCustomMutator(data, size, max, seed);
        LLVMFuzzerTestOneInput(data, size);
    }
    free(data);
    return 0;
}

int
main(int argc, char **argv)
{
    struct buf b;
    struct err err;

    buf_init(&b, (size_t)1 << 24);
    for (int i = 1; i < argc; i++) {
        buf_clear(&b);
        if (file_read(argv[i], b.max, &b, &err) != 0) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        fprintf(stderr, "%s\n", argv[i]);
        LLVMFuzzerTestOneInput((const uint8_t *)(b.data ? b.data : ""), b.len);
        if (LLVMFuzzerCustomMutator != NULL && play_mutants(&b, &err) != 0) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
    }
    buf_fini(&b);
    printf("%d files\n", argc - 1);
    return 0;
}
