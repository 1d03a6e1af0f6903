/* SPDX-License-Identifier: MIT */
/* Command logs: what a whole log's walk gives is, encoded again, the bytes it
 * was read from, as far as they hold; a walk ends, twice in the same way. */
#include "fuzz.h"

#include "core/buf.h"
#include "core/err.h"
#include "fuzz_file.h"
#include "log/log.h"
#include "log_mutator.h"

#include <string.h>

/* Walks from the first record on; collects what was read. */
static enum log_status
walk(struct log_reader *f, struct buf *out, struct err *err)
{
    enum log_status status;
    struct record r;

    while ((status = log_next(f, &r, err)) == LOG_RECORD) {
        size_t begin = out->len;

        MUST(log_offset(f) == out->len);
        record_encode(out, r.kind, r.number, r.time_us, r.payload, r.len);
        MUST(!out->failed && out->len - begin == r.size);
    }
    return status;
}

static void
check_log(struct log_reader *f, const uint8_t *data, size_t size)
{
    enum log_status status;
    struct err a = {0}, b = {0};
    struct buf out, again;

    buf_init(&out, size + 64);
    buf_init(&again, size + 64);
    record_write_version(&out);
    record_write_version(&again);
    status = walk(f, &out, &a);
    MUST(out.len <= size && memcmp(out.data, data, out.len) == 0);
    MUST(status != LOG_END || out.len == size);
    MUST(status != LOG_TORN || log_torn(f) == size - out.len);
    MUST(status != LOG_DAMAGED || a.code != ERR_NONE);
    log_rewind(f);
    MUST(walk(f, &again, &b) == status && again.len == out.len);
    MUST(strcmp(a.text, b.text) == 0);
    buf_fini(&out);
    buf_fini(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {0};
    struct fuzz_file at;
    struct log_reader *f;

    fuzz_file_write(&at, data, size);
    f = log_open(at.path, 0, &err);
    MUST((f == NULL) == (err.code != ERR_NONE));
    if (f != NULL)
        check_log(f, data, size);
    log_close(f);
    fuzz_file_remove(&at);
    return 0;
}
