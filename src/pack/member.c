/* SPDX-License-Identifier: MIT */
#include "pack/member.h"

#include "core/err.h"
#include "core/grow.h"
#include "core/gzip.h"
#include "core/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIXED = 12, /* gzip's head, with the length of the extra field */
    FIELD = 16, /* with the head of our part of that */
    WORD = 8,
    WORDS = 5, /* before the attempts */
    HEAD_MAX = FIXED + 65535,
    PIECE = 65536,
};

/* Deflated, with an extra field, no time, quickly, on Unix. */
const unsigned char pack_magic[10] = {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 4, 3};

/* ---- names ---- */

void
pack_name(uint64_t number, char out[PACK_NAME_MAX])
{
    unsigned long long first = number / PACK_TRIALS * PACK_TRIALS;

    snprintf(out, PACK_NAME_MAX, "%05llu-%05llu" PACK_ENDS, first,
             first + PACK_TRIALS - 1);
}

bool
pack_name_read(const char *name, uint64_t *first)
{
    size_t len = strcspn(name, "-");
    char canonical[PACK_NAME_MAX];

    if (!number_parse_u64(name, len, first))
        return false;
    pack_name(*first, canonical);
    return strcmp(name, canonical) == 0;
}

void
pack_id(uint64_t number, uint64_t attempt, char out[PACK_ID_MAX])
{
    int len = snprintf(out, PACK_ID_MAX, "%05llu", (unsigned long long)number);

    if (attempt > 0)
        snprintf(out + len, (size_t)(PACK_ID_MAX - len), ".%llu",
                 (unsigned long long)attempt);
}

bool
pack_id_read(const char *text, size_t len, uint64_t *number, uint64_t *attempt)
{
    const char *dot = memchr(text, '.', len);
    size_t digits = dot == NULL ? len : (size_t)(dot - text);
    char canonical[PACK_ID_MAX];

    *attempt = 0;
    if (!number_parse_u64(text, digits, number) ||
        (dot != NULL && !number_parse_u64(dot + 1, len - digits - 1, attempt)))
        return false;
    pack_id(*number, *attempt, canonical);
    return strlen(canonical) == len && memcmp(canonical, text, len) == 0;
}

/* ---- heads ---- */

static void
put(unsigned char *to, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(v >> 8 * i);
}

static uint64_t
get(const unsigned char *from, int bytes)
{
    uint64_t v = 0;

    for (int i = 0; i < bytes; i++)
        v |= (uint64_t)from[i] << 8 * i;
    return v;
}

void
pack_head_write(unsigned char *out, const struct pack_member *m,
                const struct pack_place *places, size_t n, size_t most)
{
    size_t len = PACK_HEAD(most) - FIELD;
    unsigned char *to = out + FIELD;

    memset(out, 0, PACK_HEAD(most));
    memcpy(out, pack_magic, sizeof pack_magic);
    put(out + 10, len + 4, 2);
    out[12] = 't';
    out[13] = 'P';
    put(out + 14, len, 2);
    put(to + WORD, m->at, WORD);
    put(to + 2 * WORD, m->size, WORD);
    put(to + 3 * WORD, m->raw, WORD);
    put(to + 4 * WORD, n, WORD);
    for (size_t i = 0; i < n; i++) {
        unsigned char *at = to + (WORDS + 3 * i) * WORD;

        put(at, places[i].number, WORD);
        put(at + WORD, places[i].attempt, WORD);
        put(at + 2 * WORD, places[i].from, WORD);
    }
    put(to, gzip_crc(to + WORD, len - WORD), WORD);
}

/* Reads up to `len` bytes; returns how many there are.  -1: errno tells why
 * they cannot be read. */
static ssize_t
read_at(int fd, void *to, size_t len, uint64_t at)
{
    size_t got = 0;
    ssize_t n = 1;

    while (got < len && n > 0) {
        n = pread(fd, (char *)to + got, len - got, (off_t)(at + got));
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            got += (size_t)n;
    }
    return n < 0 ? -1 : (ssize_t)got;
}

/* Reads the head at `at`, whose words are *len bytes.  1: no head of a pack's
 * member is there. */
static int
read_head(int fd, uint64_t at, unsigned char head[HEAD_MAX], size_t *len)
{
    ssize_t got = read_at(fd, head, PACK_HEAD(64), at);
    const unsigned char *words = head + FIELD;

    if (got < (ssize_t)PACK_HEAD(0) ||
        memcmp(head, pack_magic, sizeof pack_magic) != 0 || head[12] != 't' ||
        head[13] != 'P')
        return got < 0 ? -1 : 1;
    *len = get(head + 14, 2);
    if (get(head + 10, 2) != *len + 4 || *len < WORDS * WORD)
        return 1;
    if ((ssize_t)(FIELD + *len) > got)
        got = read_at(fd, head, FIELD + *len, at);
    if (got < (ssize_t)(FIELD + *len))
        return got < 0 ? -1 : 1;
    return get(words, WORD) != gzip_crc(words + WORD, *len - WORD);
}

/* Adds the attempts that a member's words tell of.  1: they make no sense. */
static int
add_places(struct pack_index *x, const unsigned char *words, uint64_t n)
{
    const struct pack_member *m = &x->members[x->n_members - 1];
    size_t before = x->n;

    for (uint64_t i = 0; i < n; i++) {
        const unsigned char *at = words + (WORDS + 3 * i) * WORD;
        struct pack_place p = {.number = get(at, WORD),
                               .attempt = get(at + WORD, WORD),
                               .from = get(at + 2 * WORD, WORD),
                               .to = m->raw,
                               .member = x->n_members - 1};

        if (p.from > m->raw || (i > 0 && p.from < x->places[x->n - 1].from)) {
            x->n = before;
            return 1;
        }
        if (GROW(x->places, x->n, x->cap) != 0)
            return -1;
        if (i > 0)
            x->places[x->n - 1].to = p.from;
        x->places[x->n++] = p;
    }
    return 0;
}

/* Adds the member whose head is at `at` in a file of so many bytes.  1: no
 * whole one is there. */
static int
add_member(struct pack_index *x, int fd, uint64_t at, uint64_t file_size,
           unsigned char head[HEAD_MAX])
{
    const unsigned char *words = head + FIELD;
    struct pack_member m = {.at = at};
    size_t len;
    uint64_t n;
    int rc = read_head(fd, at, head, &len);

    if (rc != 0 || get(words + WORD, WORD) != at)
        return rc < 0 ? -1 : 1;
    m.size = get(words + 2 * WORD, WORD);
    m.raw = get(words + 3 * WORD, WORD);
    n = get(words + 4 * WORD, WORD);
    if (m.size <= FIELD + len || m.size > file_size - at ||
        n > len / WORD / 3 || (WORDS + 3 * n) * WORD > len)
        return 1;
    if (GROW(x->members, x->n_members, x->members_cap) != 0)
        return -1;
    x->members[x->n_members++] = m;
    rc = add_places(x, words, n);
    if (rc != 0)
        x->n_members--;
    return rc;
}

/* Looks for the next member from `at` on and adds it.  1: there is none. */
static int
find_member(struct pack_index *x, int fd, uint64_t at, uint64_t file_size,
            unsigned char head[HEAD_MAX])
{
    unsigned char *piece = malloc(PIECE);
    int rc = piece == NULL ? -1 : 1;
    ssize_t got = PIECE;

    while (rc == 1 && got == PIECE) {
        got = read_at(fd, piece, PIECE, at);
        if (got < 0)
            rc = -1;
        for (size_t i = 0; rc == 1 && (ssize_t)(i + sizeof pack_magic) <= got;
             i++)
            if (memcmp(piece + i, pack_magic, sizeof pack_magic) == 0)
                rc = add_member(x, fd, at + i, file_size, head);
        at += PIECE - sizeof pack_magic + 1;
    }
    free(piece);
    return rc;
}

static int
compare(const void *a, const void *b)
{
    const struct pack_place *p = a, *q = b;

    if (p->number != q->number)
        return p->number < q->number ? -1 : 1;
    if (p->attempt != q->attempt)
        return p->attempt < q->attempt ? -1 : 1;
    return p->member > q->member ? -1 : p->member < q->member;
}

/* Adds members as long as there are any. */
static int
add_members(struct pack_index *x, int fd, uint64_t file_size,
            unsigned char head[HEAD_MAX])
{
    int rc = 0;

    while (rc == 0 && x->end < file_size) {
        uint64_t end = x->end;

        rc = add_member(x, fd, end, file_size, head);
        if (rc == 1) {
            rc = find_member(x, fd, end + 1, file_size, head);
            if (rc == 0 && x->damaged++ == 0)
                x->damaged_at = end;
        }
        if (rc == 0)
            x->end = x->members[x->n_members - 1].at +
                     x->members[x->n_members - 1].size;
    }
    return rc < 0 ? -1 : 0;
}

int
pack_index_grow(struct pack_index *x, int fd, struct err *err)
{
    size_t before = x->n;
    unsigned char *head;
    struct stat st;
    int rc;

    if (fstat(fd, &st) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot look at");
    if ((uint64_t)st.st_size <= x->end)
        return 0;
    head = malloc(HEAD_MAX);
    rc = head == NULL ? -1 : add_members(x, fd, (uint64_t)st.st_size, head);
    if (rc != 0)
        err_errno(err, errno == ENOMEM ? ERR_MEMORY : ERR_SYSTEM,
                  "cannot read it");
    free(head);
    if (rc != 0)
        return -1;
    if (x->n > before)
        qsort(x->places, x->n, sizeof *x->places, compare);
    return 0;
}

void
pack_index_fini(struct pack_index *x)
{
    free(x->members);
    free(x->places);
    *x = (struct pack_index){0};
}

const struct pack_place *
pack_index_find(const struct pack_index *x, uint64_t number, uint64_t attempt,
                size_t *n)
{
    const struct pack_place wanted = {
        .number = number, .attempt = attempt, .member = SIZE_MAX};
    size_t from = 0, to = x->n, end;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (compare(&x->places[middle], &wanted) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    for (end = from; end < x->n && x->places[end].number == number &&
                     x->places[end].attempt == attempt;
         end++)
        continue;
    *n = end - from;
    return *n == 0 ? NULL : x->places + from;
}
