/* SPDX-License-Identifier: MIT */
#include "log/record.h"

#include "core/buf.h"
#include "core/crc32c.h"
#include "core/err.h"
#include "core/number.h"
#include "quote.h"

#include <stdbool.h>
#include <string.h>

#define CRC_SIZE 8
/* the longest head: CRC, kind, three numbers, a space after each */
#define HEAD_MAX (CRC_SIZE + 1 + 2 + 1 + 3 * (20 + 1))

static const char *const kinds[] = {
    [RECORD_HEAD] = "H",         [RECORD_IN] = "<",
    [RECORD_TUNER] = ">t",       [RECORD_ASSESSOR] = ">a",
    [RECORD_ROUTER] = ">r",      [RECORD_SKIPPED] = "S",
    [RECORD_SYNC] = "M",         [RECORD_END] = "E",
    [RECORD_TUNER_FRAME] = "<t", [RECORD_ASSESSOR_FRAME] = "<a",
    [RECORD_TUNER_EVENT] = "!t", [RECORD_ASSESSOR_EVENT] = "!a",
    [RECORD_RESUMED] = "R",      [RECORD_SEGMENT] = "G",
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

const char *
record_kind_text(enum record_kind kind)
{
    return kinds[kind];
}

bool
record_is_input(enum record_kind kind)
{
    return kind == RECORD_IN || kind == RECORD_TUNER_FRAME ||
           kind == RECORD_ASSESSOR_FRAME || kind == RECORD_TUNER_EVENT ||
           kind == RECORD_ASSESSOR_EVENT;
}

void
record_write_version(struct buf *out)
{
    buf_printf(out, RECORD_MAGIC "%d\n", RECORD_VERSION);
}

size_t
record_read_version(const char *bytes, size_t len, struct err *err)
{
    size_t magic = strlen(RECORD_MAGIC);
    size_t window = len < magic + 21 ? len : magic + 21;
    const char *end = memchr(bytes, '\n', window);
    uint64_t version;

    if (end == NULL || window < magic ||
        memcmp(bytes, RECORD_MAGIC, magic) != 0 || bytes[magic] == '0' ||
        !number_parse_u64(bytes + magic, (size_t)(end - bytes) - magic,
                          &version)) {
        err_set(err, ERR_LOG, "not a command log: expected the line '%s%d'",
                RECORD_MAGIC, RECORD_VERSION);
        return 0;
    }
    if (version > RECORD_VERSION) {
        err_set(err, ERR_LOG,
                "a command log of version %llu; this program reads up to "
                "version %d",
                (unsigned long long)version, RECORD_VERSION);
        return 0;
    }
    return (size_t)(end - bytes) + 1;
}

static void
write_crc(char *p, uint32_t crc)
{
    static const char hex[] = "0123456789abcdef";

    for (int i = 0; i < CRC_SIZE; i++)
        p[i] = hex[crc >> (28 - 4 * i) & 15];
}

static char *
write_number(char *p, uint64_t v)
{
    p = number_write_u64(p, v);
    *p++ = ' ';
    return p;
}

void
record_encode2(struct buf *out, enum record_kind kind, uint64_t number,
               int64_t time_us, const void *a, size_t a_len, const void *b,
               size_t b_len)
{
    char *begin = b_len > SIZE_MAX - a_len - HEAD_MAX - 1
                      ? NULL
                      : buf_reserve(out, HEAD_MAX + a_len + b_len + 1);
    char *p, *covered;

    if (begin == NULL) {
        out->failed = true;
        return;
    }
    begin[CRC_SIZE] = ' ';
    p = covered = begin + CRC_SIZE + 1;
    for (const char *k = kinds[kind]; *k != '\0'; k++)
        *p++ = *k;
    *p++ = ' ';
    p = write_number(p, number);
    p = write_number(p, time_us < 0 ? 0 : (uint64_t)time_us);
    p = write_number(p, a_len + b_len);
    if (a_len > 0)
        memcpy(p, a, a_len);
    if (b_len > 0)
        memcpy(p + a_len, b, b_len);
    p += a_len + b_len;
    write_crc(begin, crc32c(0, covered, (size_t)(p - covered)));
    *p++ = '\n';
    out->len += (size_t)(p - begin);
}

void
record_encode(struct buf *out, enum record_kind kind, uint64_t number,
              int64_t time_us, const void *payload, size_t len)
{
    record_encode2(out, kind, number, time_us, payload, len, NULL, 0);
}

/* The bytes that are left while a record's head is read. */
struct cursor {
    const char *p, *end;
    struct err *err;
};

static enum record_status
damaged(const struct cursor *c, const char *expected)
{
    char shown[QUOTE_MAX];

    err_set(c->err, ERR_LOG, "expected %s, not %s", expected,
            quote_bytes(shown, c->p, 1));
    return RECORD_DAMAGED;
}

static enum record_status
read_crc(struct cursor *c, uint32_t *crc)
{
    *crc = 0;
    for (int i = 0; i < CRC_SIZE; i++, c->p++) {
        bool digit;

        if (c->p == c->end)
            return RECORD_PARTIAL;
        digit = *c->p >= '0' && *c->p <= '9';
        if (!digit && (*c->p < 'a' || *c->p > 'f'))
            return damaged(c, "a checksum of 8 hexadecimal digits");
        *crc = *crc << 4 | (uint32_t)(digit ? *c->p - '0' : *c->p - 'a' + 10);
    }
    return RECORD_READY;
}

static enum record_status
read_char(struct cursor *c, char wanted, const char *expected)
{
    if (c->p == c->end)
        return RECORD_PARTIAL;
    if (*c->p != wanted)
        return damaged(c, expected);
    c->p++;
    return RECORD_READY;
}

/* Length of the kind at p, if it is this one; else 0.  All kinds have one or
 * two characters. */
static size_t
match_kind(const char *kind, const char *p, size_t left)
{
    if (left == 0 || p[0] != kind[0])
        return 0;
    if (kind[1] == '\0')
        return 1;
    return left > 1 && p[1] == kind[1] ? 2 : 0;
}

static enum record_status
read_kind(struct cursor *c, enum record_kind *kind)
{
    size_t left = (size_t)(c->end - c->p), best = 0;

    for (size_t k = 0; k < N_KINDS; k++) {
        size_t len = match_kind(kinds[k], c->p, left);

        if (len > 0 && len < left && c->p[len] == ' ') {
            c->p += len + 1;
            *kind = (enum record_kind)k;
            return RECORD_READY;
        }
        if (len > best)
            best = len;
    }
    c->p += best;
    if (best > 0)
        return read_char(c, ' ', "a space behind the kind");
    if (left == 0 || (left == 1 && (*c->p == '>' || *c->p == '!')))
        return RECORD_PARTIAL;
    return damaged(c, "a kind of record");
}

/* Reads a decimal number without leading zeros, and a space. */
static enum record_status
read_number(struct cursor *c, uint64_t *out)
{
    const char *from = c->p, *p = from;
    uint64_t v = 0;
    unsigned digit;

    for (; p < c->end && (digit = (unsigned)(*p - '0')) <= 9 && p - from < 20;
         p++)
        v = v * 10 + digit;
    *out = v;
    c->p = p;
    if (p == c->end)
        return RECORD_PARTIAL;
    if (p == from || *p != ' ')
        return damaged(c, "a number and a space");
    if ((p - from == 20 && !number_parse_u64(from, 20, out)) ||
        (*from == '0' && p - from > 1)) {
        c->p = from;
        return damaged(c, "a number of at most 64 bits without leading zeros");
    }
    c->p++;
    return RECORD_READY;
}

/* Reads a time.  One that does not fit is refused: what is read is written the
 * same. */
static enum record_status
read_time(struct cursor *c, int64_t *time_us)
{
    const char *from = c->p;
    uint64_t time = 0;
    enum record_status status = read_number(c, &time);

    if (status == RECORD_READY && time > INT64_MAX) {
        c->p = from;
        return damaged(c, "a time of at most 63 bits");
    }
    *time_us = (int64_t)time;
    return status;
}

static enum record_status
read_head(struct cursor *c, struct record *r, uint32_t *crc)
{
    uint64_t length = 0;
    enum record_status status = read_crc(c, crc);

    if (status == RECORD_READY)
        status = read_char(c, ' ', "a space behind the checksum");
    if (status == RECORD_READY)
        status = read_kind(c, &r->kind);
    if (status == RECORD_READY)
        status = read_number(c, &r->number);
    if (status == RECORD_READY)
        status = read_time(c, &r->time_us);
    if (status == RECORD_READY)
        status = read_number(c, &length);
    r->len = length > SIZE_MAX ? SIZE_MAX : (size_t)length;
    return status;
}

size_t
record_claims(const char *bytes, size_t len)
{
    struct cursor c = {bytes, bytes + len, NULL};
    struct record r = {0};
    uint32_t crc;

    if (read_head(&c, &r, &crc) != RECORD_READY || r.len >= SIZE_MAX - HEAD_MAX)
        return 0;
    return (size_t)(c.p - bytes) + r.len + 1;
}

enum record_status
record_next(const char *bytes, size_t len, size_t max_payload,
            struct record *out, struct err *err)
{
    struct cursor c = {bytes, bytes + len, err};
    const char *covered = bytes + CRC_SIZE + 1;
    struct record r = {0};
    uint32_t crc, found;
    enum record_status status = read_head(&c, &r, &crc);

    if (status != RECORD_READY)
        return status;
    if (r.len > max_payload) {
        err_set(err, ERR_LOG, "a payload of %zu bytes, over the limit of %zu",
                r.len, max_payload);
        return RECORD_DAMAGED;
    }
    if ((size_t)(c.end - c.p) <= r.len)
        return RECORD_PARTIAL;
    r.payload = c.p;
    c.p += r.len;
    found = crc32c(0, covered, (size_t)(c.p - covered));
    if (found != crc) {
        err_set(err, ERR_LOG, "checksum %08x, but the record's is %08x", crc,
                found);
        return RECORD_DAMAGED;
    }
    status = read_char(&c, '\n', "a newline behind the payload");
    if (status != RECORD_READY)
        return status;
    r.size = (size_t)(c.p - bytes);
    *out = r;
    return RECORD_READY;
}
