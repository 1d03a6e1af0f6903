/* SPDX-License-Identifier: MIT */
/* record.h - records of the command log <-> bytes.  PROTOCOL.md, "The log".
 *
 * A log begins with the line `tunepipe-log 1`; then records, each
 *
 *   CRC SP KIND SP NUMBER SP TIME SP LENGTH SP PAYLOAD LF
 *
 * CRC     8 lower-case hex digits: CRC-32C of all from KIND to before the LF
 * KIND    one or two characters, below
 * NUMBER  decimal: the arrival number (of the command, or of the cause)
 * TIME    decimal, below 2^63: microseconds since 1970; shown, never acted on
 * LENGTH  decimal: bytes of PAYLOAD
 *
 * To change the format: raise RECORD_VERSION, keep reading the older ones
 * (record_next gets the version from record_read_version), add a golden log
 * of the old version to tests/data, describe both in PROTOCOL.md.
 *
 * No I/O, no threads. */
#ifndef LOG_RECORD_H
#define LOG_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

#define RECORD_VERSION 1
#define RECORD_MAGIC "tunepipe-log "

enum record_kind {
    RECORD_HEAD,        /* "H": JSON with all that answers depend on; first */
    RECORD_IN,          /* "<": code and payload of an inbound frame */
    RECORD_TUNER,       /* ">t": code and payload of an outbound frame sent by
                           the default worker; NUMBER is its cause */
    RECORD_ASSESSOR,    /* ">a": the same from the assessor worker */
    RECORD_ROUTER,      /* ">r": the same from the router */
    RECORD_SKIPPED,     /* "S": this command was not, or not wholly, handled;
                           payload: letters that say which half and how (t a, T A,
                           xt xa, o: PROTOCOL.md, "The log"), a space, and why, in
                           words */
    RECORD_SYNC,        /* "M": all before this record is on stable storage,
                           or all before the offset (decimal) in its payload */
    RECORD_END,         /* "E": the session ended; payload: how, in words */
    RECORD_TUNER_FRAME, /* "<t": code and payload of a frame from the
                           program that is the tuner; numbered with the
                           manager's frames */
    RECORD_ASSESSOR_FRAME, /* "<a": the same from the program that is the
                              assessor */
    RECORD_TUNER_EVENT,    /* "!t": what else happened to that program, and was
                              acted on: `late` or `gone`, a space, how, in
                              words; numbered, too */
    RECORD_ASSESSOR_EVENT, /* "!a": the same of the assessor's program */
    RECORD_RESUMED, /* "R": the session goes on, in another process; NUMBER is
                       the last arrival number before; payload: words */
    RECORD_SEGMENT, /* "G": this is not the log's first segment; stands behind
                       the head. NUMBER is the last arrival number before;
                       payload: segments.h */
};

struct record {
    enum record_kind kind;
    uint64_t number;
    int64_t time_us;
    const char *payload; /* borrowed from the bytes given to record_next */
    size_t len;
    size_t size; /* bytes of the whole record */
};

void record_write_version(struct buf *out);
void record_encode(struct buf *out, enum record_kind kind, uint64_t number,
                   int64_t time_us, const void *payload, size_t len);
/* record_encode() of a payload in two pieces (a frame's code and its
 * payload). */
void record_encode2(struct buf *out, enum record_kind kind, uint64_t number,
                    int64_t time_us, const void *a, size_t a_len, const void *b,
                    size_t b_len);

/* Length of the version line at the front of the bytes; 0: it is no log, or one
 * of a newer version: err tells. */
size_t record_read_version(const char *bytes, size_t len, struct err *err);

enum record_status {
    RECORD_READY,
    RECORD_PARTIAL, /* the bytes end inside a record: a torn tail */
    RECORD_DAMAGED, /* err names what is wrong (not where: the caller knows) */
};
/* Reads the record at the front of the bytes; `max_payload` is checked before
 * LENGTH is believed. */
enum record_status record_next(const char *bytes, size_t len,
                               size_t max_payload, struct record *out,
                               struct err *err);

/* Length of the whole record, as its head says, whatever the checksum; 0: the
 * bytes do not begin with a whole head of a record. */
size_t record_claims(const char *bytes, size_t len);

/* The kind as it stands in a record: "<", ">t", ... */
const char *record_kind_text(enum record_kind kind);

/* Whether records of the kind have an arrival number of their own. */
bool record_is_input(enum record_kind kind);

#endif
