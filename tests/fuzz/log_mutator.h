/* SPDX-License-Identifier: MIT */
/* log_mutator.h - libFuzzer's mutator for command logs.  Nearly each
 * change breaks a checksum, behind which nothing is read: so seven in eight
 * mutants are mended, whether their bytes or their records were changed. */
#ifndef TESTS_LOG_MUTATOR_H
#define TESTS_LOG_MUTATOR_H

#include "fuzz.h"

#include "fuzz_log.h"

struct mutation {
    struct fuzz_log log;
    uint64_t state;
    char scratch[4096]; /* a payload of our making */
};

static size_t
pick(struct mutation *m, size_t n)
{
    m->state = m->state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(m->state >> 33) % n;
}

static uint64_t
pick_number(struct mutation *m)
{
    static const uint64_t edges[] = {
        0, 1, 9, 10, INT32_MAX, (uint64_t)INT32_MAX + 1, INT64_MAX, UINT64_MAX};
    uint64_t edge = edges[pick(m, sizeof edges / sizeof *edges)];

    return edge + pick(m, 3) - 1;
}

/* Changes of the record i of a log that has records. */
static void
duplicate(struct mutation *m, size_t i)
{
    struct fuzz_log *log = &m->log;
    struct fuzz_record copy = log->records[i];
    size_t to = pick(m, log->n + 1);

    if (log->n == FUZZ_LOG_RECORDS)
        return;
    memmove(&log->records[to + 1], &log->records[to],
            (log->n - to) * sizeof copy);
    log->records[to] = copy;
    log->n++;
}

static void
drop(struct mutation *m, size_t i)
{
    struct fuzz_log *log = &m->log;

    log->n--;
    memmove(&log->records[i], &log->records[i + 1],
            (log->n - i) * sizeof *log->records);
}

/* Those from i on: replay walks on where no answer differs. */
static void
drop_answers(struct mutation *m, size_t i)
{
    struct fuzz_log *log = &m->log;
    size_t kept = i;

    for (; i < log->n; i++)
        if (*record_kind_text(log->records[i].kind) != '>')
            log->records[kept++] = log->records[i];
    log->n = kept;
}

static void
swap(struct mutation *m, size_t i)
{
    struct fuzz_record *other = &m->log.records[pick(m, m->log.n)];
    struct fuzz_record r = *other;

    *other = m->log.records[i];
    m->log.records[i] = r;
}

static void
change_kind(struct mutation *m, size_t i)
{
    m->log.records[i].kind = (enum record_kind)pick(m, RECORD_END + 1);
}

static void
change_number(struct mutation *m, size_t i)
{
    m->log.records[i].number = pick_number(m);
}

static void
change_time(struct mutation *m, size_t i)
{
    m->log.records[i].time_us = pick_number(m);
}

/* To less of the payload, or over what stands behind it. */
static void
change_length(struct mutation *m, size_t i)
{
    struct fuzz_record *r = &m->log.records[i];

    r->len = pick(m, (size_t)(m->log.end - r->payload) + 1);
}

static void
change_payload(struct mutation *m, size_t i)
{
    struct fuzz_record *r = &m->log.records[i];

    r->len = r->len < sizeof m->scratch ? r->len : sizeof m->scratch;
    memcpy(m->scratch, r->payload, r->len);
    r->payload = m->scratch;
    r->len = LLVMFuzzerMutate((uint8_t *)m->scratch, r->len, sizeof m->scratch);
}

static void
spoil(struct mutation *m, size_t i)
{
    m->log.records[i].spoiled = (uint32_t)1 << pick(m, 32);
}

static void (*const changes[])(struct mutation *m, size_t i) = {
    duplicate,     drop,        drop_answers,  swap,           change_kind,
    change_number, change_time, change_length, change_payload, spoil,
};

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                        unsigned seed)
{
    struct mutation m = {.state = seed};
    bool of_bytes = pick(&m, 2) == 0;
    struct buf out;

    if (pick(&m, 8) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    if (of_bytes)
        size = LLVMFuzzerMutate(data, size, max_size);
    fuzz_log_read(&m.log, data, size);
    if (!of_bytes && m.log.n > 0)
        changes[pick(&m, sizeof changes / sizeof *changes)](&m,
                                                            pick(&m, m.log.n));
    buf_init(&out, max_size);
    fuzz_log_write(&m.log, &out);
    if (out.len > 0) {
        memcpy(data, out.data, out.len);
        size = out.len;
    }
    buf_fini(&out);
    return size;
}

#endif
