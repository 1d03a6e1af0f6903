/* SPDX-License-Identifier: MIT */
/* What a fuzz target is linked with where libFuzzer is not: calls it with
 * each file named on the command line. */
#include "fuzz.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"

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
    }
    buf_fini(&b);
    printf("%d files\n", argc - 1);
    return 0;
}
