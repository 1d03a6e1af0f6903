/* SPDX-License-Identifier: MIT */
#include "dispatcher/logfile.h"

#include "core/crc32c.h"
#include "core/err.h"
#include "core/number.h"
#include "dispatcher/logchain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* DESIGN
 *
 * A segment that is not the last ends where the next one says, behind the
 * last arrival it says, and all have the same head: bytes that are lost
 * between two of them are found like bytes that are lost within one. */

/* What the next segment must say. */
struct seam {
    bool known;
    uint64_t bytes, arrival;
    uint32_t head; /* checksum */
};

struct logfile {
    struct logchain chain;
    uint64_t from;      /* where it begins */
    bool headless;      /* ... behind the head of that segment */
    uint64_t n;         /* the segment in hand */
    struct logmap *map; /* its map; NULL: not opened yet */
    size_t at;          /* of the next record */
    size_t last;        /* of the record last returned */
    uint64_t arrival;   /* of the last input */
    struct seam seam;   /* with the segment before */
    bool repaired;      /* by who reads it */
    char *bad;          /* the file before, which is not as it should be */
};

/* ---- opening and closing ---- */

struct logfile *
logfile_open(const char *path, struct err *err)
{
    struct logfile *f = calloc(1, sizeof *f);

    if (f == NULL) {
        err_set(err, ERR_MEMORY, "%s: out of memory", path);
        return NULL;
    }
    if (logchain_open(&f->chain, path, err) != 0) {
        logfile_close(f);
        return NULL;
    }
    f->from = f->chain.first;
    logfile_rewind(f);
    return f;
}

void
logfile_close(struct logfile *f)
{
    if (f == NULL)
        return;
    logchain_close(&f->chain);
    free(f->bad);
    free(f);
}

void
logfile_keep(struct logfile *f)
{
    f->chain.keep = true;
}

void
logfile_repaired(struct logfile *f)
{
    f->repaired = true;
}

void
logfile_rewind(struct logfile *f)
{
    if (f->map != NULL && f->n != f->from)
        logchain_leave(&f->chain, f->n);
    f->n = f->from;
    f->map = NULL;
    f->seam.known = false;
}

int
logfile_start_at(struct logfile *f, uint64_t segment, struct err *err)
{
    if (segment < f->chain.first || segment > f->chain.last)
        return err_set(err, ERR_LOG,
                       "%s: no segment %" PRIu64 ", there are %" PRIu64
                       " to %" PRIu64,
                       f->chain.path, segment, f->chain.first, f->chain.last);
    if (f->map != NULL)
        logchain_leave(&f->chain, f->n);
    f->map = NULL;
    f->from = segment;
    f->headless = true;
    logfile_rewind(f);
    return 0;
}

int
logfile_grow(struct logfile *f, struct err *err)
{
    return logchain_grow(&f->chain, err);
}

/* ---- from one segment to the next ---- */

static uint32_t
head_sum(const struct segment_head *h)
{
    return crc32c(0, h->head.payload, h->head.len);
}

/* The segment before is not as this one says. */
static int
is_short(struct logfile *f, struct err *err)
{
    const struct segment_head *h = &f->map->head;
    const char *next = f->map->path;

    free(f->bad);
    f->bad = segments_path(f->chain.folder, f->n - 1, SEGMENT_PLAIN);
    if (f->bad == NULL)
        return err_set(err, ERR_MEMORY, "%s: out of memory", f->chain.path);
    if (h->bytes != f->seam.bytes)
        return err_set(err, ERR_LOG,
                       "%s: offset %" PRIu64 ": ends there, expected %" PRIu64
                       " bytes, as %s says",
                       f->bad, f->seam.bytes, h->bytes, next);
    return err_set(err, ERR_LOG,
                   "%s: ends with command %" PRIu64 ", expected %" PRIu64
                   ", as %s says",
                   f->bad, f->seam.arrival, h->arrival, next);
}

static int
check_seam(struct logfile *f, struct err *err)
{
    const struct segment_head *h = &f->map->head;

    if (h->number != f->n || h->head.size == 0)
        return err_set(err, ERR_LOG,
                       "%s: expected to begin as segment %" PRIu64
                       " of the log",
                       f->map->path, f->n);
    if (head_sum(h) != f->seam.head)
        return err_set(err, ERR_LOG,
                       "%s: another head than that of the segment before, "
                       "expected segments of one session",
                       f->map->path);
    return h->bytes == f->seam.bytes && h->arrival == f->seam.arrival
               ? 0
               : is_short(f, err);
}

/* The segment in hand is opened, and what it says of the one before checked. */
static int
enter(struct logfile *f, struct err *err)
{
    const struct segment_head *h;

    f->map = logchain_get(&f->chain, f->n, err);
    if (f->map == NULL)
        return -1;
    h = &f->map->head;
    if (f->seam.known && check_seam(f, err) != 0)
        return -1;
    f->arrival = h->arrival;
    f->at = h->size;
    if (f->n == f->chain.first && !f->headless)
        f->at = h->begin;
    f->last = f->at;
    return 0;
}

static void
move_on(struct logfile *f)
{
    f->seam =
        (struct seam){true, f->map->len, f->arrival, head_sum(&f->map->head)};
    logchain_leave(&f->chain, f->n);
    f->map = NULL;
    f->n++;
}

/* ---- records ---- */

#define CRC_SIZE 8

/* How far all was on stable storage when the mark at `begin` was written. */
static size_t
synced_upto(const struct record *mark, size_t begin)
{
    uint64_t upto;

    if (mark->len == 0)
        return begin;
    if (!number_parse_u64(mark->payload, mark->len, &upto) || upto > begin)
        return 0;
    return (size_t)upto;
}

/* Whether a whole sync mark anywhere behind `from` says that the bytes there
 * were on stable storage; not only behind a newline, for that may be what is
 * damaged. */
static bool
synced_behind(const struct logmap *m, size_t from)
{
    static const char kind[] = " M 0 ";
    const char *end = m->bytes + m->len;
    struct record r;

    if (m->len - from < CRC_SIZE)
        return false;
    for (const char *at = m->bytes + from + CRC_SIZE; at < end; at++) {
        const char *begin;

        at = memmem(at, (size_t)(end - at), kind, sizeof kind - 1);
        if (at == NULL)
            return false;
        begin = at - CRC_SIZE;
        if (record_next(begin, (size_t)(end - begin), SIZE_MAX, &r, NULL) ==
                RECORD_READY &&
            synced_upto(&r, (size_t)(begin - m->bytes)) > from)
            return true;
    }
    return false;
}

/* A compressed segment is not repaired. */
static bool
can_be_repaired(const struct logfile *f)
{
    const char *ending = strrchr(f->map->path, '.');

    return !f->repaired && (ending == NULL || strcmp(ending, ".gz") != 0);
}

static void
advise(const struct logfile *f, struct err *err)
{
    struct err why = *err;

    err_set(err, ERR_LOG,
            "%s; tunepipe log %s --repair FILE keeps what is whole", why.text,
            f->chain.path);
}

static enum logfile_status
not_a_record(struct logfile *f, struct err *err)
{
    bool sealed = f->n != f->chain.last;

    if (!sealed && !synced_behind(f->map, f->at))
        return LOGFILE_TORN;
    err_place(err, "%s: offset %zu, %s", f->map->path, f->at,
              sealed ? "in a segment that others follow"
                     : "before the last sync mark");
    if (err != NULL)
        err->code = ERR_LOG;
    if (err != NULL && can_be_repaired(f))
        advise(f, err);
    return LOGFILE_DAMAGED;
}

enum logfile_status
logfile_next(struct logfile *f, struct record *out, struct err *err)
{
    enum record_status status;

    for (;;) {
        if (f->map == NULL && enter(f, err) != 0)
            return LOGFILE_DAMAGED;
        if (f->at < f->map->len)
            break;
        if (f->n == f->chain.last)
            return LOGFILE_END;
        move_on(f);
    }
    status = record_next(f->map->bytes + f->at, f->map->len - f->at, SIZE_MAX,
                         out, err);
    if (status == RECORD_PARTIAL)
        err_set(err, ERR_LOG, "the record is cut off");
    if (status != RECORD_READY)
        return not_a_record(f, err);
    if (record_is_input(out->kind))
        f->arrival = out->number;
    f->last = f->at;
    f->at += out->size;
    logmap_give_back(f->map, f->last);
    return LOGFILE_RECORD;
}

/* ---- where it is ---- */

uint64_t
logfile_offset(const struct logfile *f)
{
    return f->last;
}

uint64_t
logfile_segment(const struct logfile *f)
{
    return f->n;
}

const char *
logfile_path_now(const struct logfile *f)
{
    if (f->bad != NULL)
        return f->bad;
    return f->map != NULL ? f->map->path : f->chain.path;
}

uint64_t
logfile_torn(const struct logfile *f)
{
    return f->map->len - f->at;
}

/* ---- what there is ---- */

uint64_t
logfile_first_segment(const struct logfile *f)
{
    return f->chain.first;
}

uint64_t
logfile_last_segment(const struct logfile *f)
{
    return f->chain.last;
}

int
logfile_before(const struct logfile *f, uint64_t segment, uint64_t *arrival,
               uint64_t *frames, struct err *err)
{
    struct segment_head head;

    if (segment < f->chain.first || segment > f->chain.last)
        return err_set(err, ERR_LOG, "%s: no segment %" PRIu64, f->chain.path,
                       segment);
    if (logchain_head(&f->chain, segment, &head, err) != 0)
        return -1;
    *arrival = head.arrival;
    *frames = head.frames;
    return 0;
}

bool
logfile_lacks(const struct logfile *f, struct err *err)
{
    uint64_t first = f->chain.first, arrival, frames;

    if (first == 1)
        return false;
    if (logfile_before(f, first, &arrival, &frames, err) != 0)
        return true;
    if (f->chain.folder != NULL)
        err_set(err, ERR_LOG,
                "%s: commands 1 to %" PRIu64
                " are not on record any more (%s%" PRIu64 " %s dropped)",
                f->chain.path, arrival,
                first == 2 ? "segment " : "segments 1 to ", first - 1,
                first == 2 ? "was" : "were");
    else
        err_set(err, ERR_LOG,
                "%s: segment %" PRIu64 " of a log: commands 1 to %" PRIu64
                " stand in those before it",
                f->chain.path, first, arrival);
    return true;
}
