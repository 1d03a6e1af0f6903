/* SPDX-License-Identifier: MIT */
/* member.h - a pack: the files of up to a thousand ended trials in one file,
 * EXPERIMENT/trials/00000-00999.tar.gz, and what is where in it.
 *
 * It is only ever appended to: members of gzip, each with a piece of a ustar
 * archive that holds the folders of some attempts, so that `tar -xzf` unpacks
 * it all.  Each member's head has an extra field "tP" with words of 8 bytes,
 * little-endian:
 *
 *   crc      of all words behind it: gzip's CRC-32
 *   at       the member's offset in the file
 *   size     its bytes, head and end included
 *   raw      the bytes of the archive in it
 *   n        how many attempts are in it; of each, in the order of the archive:
 *   number   its trial,
 *   attempt  from 0,
 *   from     the offset of its first entry in that archive
 *
 * and zeros up to the field's end.  An attempt may be in several members: a
 * file in a later one replaces that of the same name.  What lies behind the
 * last whole member was being written when its writer died.  Any thread. */
#ifndef PACK_MEMBER_H
#define PACK_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

#define PACK_TRIALS 1000
#define PACK_ENDS ".tar.gz"
/* Behind it, and before a number, in the name of a file that is no pack and had
 * the name of one. */
#define PACK_ASIDE ".aside-"
extern const unsigned char pack_magic[10]; /* with which a member begins */

#define PACK_NAME_MAX 64
#define PACK_ID_MAX 48

/* The name of the pack that the trial's attempts are in. */
void pack_name(uint64_t number, char out[PACK_NAME_MAX]);
/* Whether this is the name of a pack; *first is the lowest number it has. */
bool pack_name_read(const char *name, uint64_t *first);

/* The name of the attempt's folder, 00012 or 00012.1. */
void pack_id(uint64_t number, uint64_t attempt, char out[PACK_ID_MAX]);
/* Reads the first `len` bytes of a text as such a name. */
bool pack_id_read(const char *text, size_t len, uint64_t *number,
                  uint64_t *attempt);

struct pack_member {
    uint64_t at, size, raw;
};

struct pack_place {
    uint64_t number, attempt;
    uint64_t from, to; /* of its entries in the archive that a member holds */
    size_t member;
};

/* A zeroed one knows of nothing yet. */
struct pack_index {
    struct pack_member *members;
    size_t n_members, members_cap;
    struct pack_place *places; /* by trial and attempt, the latest first */
    size_t n, cap;
    uint64_t end;        /* behind the last whole member */
    uint64_t damaged_at; /* the first bytes between members that are none */
    size_t damaged;      /* how often there are such */
};

/* Reads the heads of whole members that were appended since. */
int pack_index_grow(struct pack_index *x, int fd, struct err *err);
void pack_index_fini(struct pack_index *x);
/* The places of an attempt, the latest first: *n of them. */
const struct pack_place *pack_index_find(const struct pack_index *x,
                                         uint64_t number, uint64_t attempt,
                                         size_t *n);

/* How long a head is that has room for so many attempts. */
#define PACK_HEAD(attempts) (56 + 24 * (size_t)(attempts))
#define PACK_PLACES_MAX 2700

/* Writes a head with these n attempts and room for `most`: PACK_HEAD(most)
 * bytes. */
void pack_head_write(unsigned char *out, const struct pack_member *m,
                     const struct pack_place *places, size_t n, size_t most);

#endif
