/* SPDX-License-Identifier: MIT */
/* segment LOG FOLDER SIZE: the records of a log of one segment as one of
 * several, in FOLDER/command.log and FOLDER/command.N.log, each of SIZE bytes
 * or a record more. */
#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/number.h"
#include "log/log.h"
#include "log/segments.h"
#include "log/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cutting {
    const char *folder;
    struct segment_head head;
    struct buf bytes;
};

static void
die(const char *text)
{
    fprintf(stderr, "segment: %s\n", text);
    exit(1);
}

static void
write_one(struct cutting *c, const char *path)
{
    struct err err;

    if (c->bytes.failed ||
        file_write(path, c->bytes.data, c->bytes.len, &err) != 0)
        die(path);
}

/* Ends in a mark, as one that was sealed does. */
static void
seal(struct cutting *c, int64_t time_us)
{
    char *path = segments_path(c->folder, c->head.number, SEGMENT_PLAIN);

    record_encode(&c->bytes, RECORD_SYNC, 0, time_us, "", 0);
    write_one(c, path);
    free(path);
    c->head.bytes = c->bytes.len;
    c->head.number++;
    buf_clear(&c->bytes);
    segment_head_write(&c->head, time_us, &c->bytes);
}

static void
cut(struct cutting *c, struct log_reader *from, size_t size)
{
    struct record r;
    struct err err;

    record_write_version(&c->bytes);
    while (log_next(from, &r, &err) == LOG_RECORD) {
        if (r.kind == RECORD_HEAD)
            c->head.head = r;
        if (r.kind == RECORD_SYNC)
            continue; /* its offset is another one */
        if (c->bytes.len >= size)
            seal(c, r.time_us);
        record_encode(&c->bytes, r.kind, r.number, r.time_us, r.payload, r.len);
        if (r.kind == RECORD_IN) {
            c->head.arrival = r.number;
            c->head.frames++;
        }
    }
}

int
main(int argc, char **argv)
{
    struct cutting c = {.head = {.number = 1}};
    struct log_reader *from;
    struct err err;
    uint64_t size = 0;
    char *path;

    if (argc != 4 || !number_parse_u64(argv[3], strlen(argv[3]), &size))
        die("usage: segment LOG FOLDER SIZE");
    c.folder = argv[2];
    from = log_open(argv[1], LOG_KEEP, &err);
    path = log_path(c.folder, &err);
    if (from == NULL || path == NULL || file_make_folder(c.folder, &err) != 0)
        die(err.text);
    buf_init(&c.bytes, (size_t)1 << 30);
    cut(&c, from, size);
    write_one(&c, path);
    log_close(from);
    buf_fini(&c.bytes);
    free(path);
    return 0;
}
