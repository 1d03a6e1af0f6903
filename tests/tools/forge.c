/* SPDX-License-Identifier: MIT */
/* forge OLD NEW < LOG: the log with NEW for the first OLD in its head, each
 * record's checksum as it should be: what somebody else may hand over. */
#include "core/buf.h"
#include "core/err.h"
#include "log/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
die(const char *text)
{
    fprintf(stderr, "forge: %s\n", text);
    exit(1);
}

static void
read_all(struct buf *b)
{
    ssize_t n;

    do {
        char *at = buf_reserve(b, 65536);

        n = at == NULL ? -1 : read(0, at, 65536);
        if (n < 0)
            die("cannot read");
        b->len += (size_t)n;
    } while (n > 0);
}

static void
replace(const struct record *r, const char *from, const char *to,
        struct buf *out)
{
    const char *at = memmem(r->payload, r->len, from, strlen(from));

    if (at == NULL)
        die("the head has no such text");
    buf_add(out, r->payload, (size_t)(at - r->payload));
    buf_add_text(out, to);
    at += strlen(from);
    buf_add(out, at, (size_t)(r->payload + r->len - at));
}

int
main(int argc, char **argv)
{
    struct buf in, out, head;
    struct record r;
    struct err err;
    size_t at;

    buf_init(&in, (size_t)1 << 30);
    buf_init(&out, (size_t)1 << 30);
    buf_init(&head, (size_t)1 << 24);
    if (argc != 3)
        die("expected OLD and NEW");
    read_all(&in);
    at = record_read_version(in.data, in.len, &err);
    if (at == 0)
        die("expected a log");
    record_write_version(&out);
    while (record_next(in.data + at, in.len - at, 1 << 24, &r, &err) ==
           RECORD_READY) {
        if (r.kind == RECORD_HEAD) {
            replace(&r, argv[1], argv[2], &head);
            r.payload = head.data;
            r.len = head.len;
        }
        record_encode(&out, r.kind, r.number, r.time_us, r.payload, r.len);
        at += r.size;
    }
    if (fwrite(out.data, 1, out.len, stdout) != out.len)
        die("cannot write");
    buf_fini(&head);
    buf_fini(&out);
    buf_fini(&in);
    return 0;
}
