/* SPDX-License-Identifier: MIT */
/* tar.h - the head of an entry in a ustar archive, from bytes and to bytes; no
 * I/O.  Any thread. */
#ifndef PACK_TAR_H
#define PACK_TAR_H

#include <stdint.h>

#define TAR_BLOCK 512
#define TAR_NAME_MAX 256 /* a prefix of 155 bytes, '/', a name of 100 */
#define TAR_LINK_MAX 100
#define TAR_SIZE_MAX ((uint64_t)077777777777) /* 8 GiB - 1 */
#define TAR_PARTS_MAX 4

enum tar_type {
    TAR_FILE = '0',
    TAR_LINK = '2',
    TAR_FOLDER = '5',
    TAR_SPARSE = 'S', /* a file with holes, as GNU tar has it */
};

/* What lies between holes. */
struct tar_part {
    uint64_t at, size;
};

struct tar_entry {
    char name[TAR_NAME_MAX + 1]; /* that of a folder has no '/' at its end */
    char link[TAR_LINK_MAX + 1]; /* what a symbolic link holds */
    enum tar_type type;
    unsigned mode; /* permissions */
    uint64_t uid, gid;
    uint64_t size; /* of the content that follows in the archive */
    int64_t mtime;
    /* SPARSE: the file's length; its parts, which follow one another in the
     * content; with a file that ends in a hole an empty one is the last. */
    uint64_t length;
    struct tar_part parts[TAR_PARTS_MAX];
    unsigned n_parts;
};

/* -1: the name, the link or the size is too long; with SPARSE the name from 101
 * bytes on. */
int tar_write(const struct tar_entry *e, unsigned char block[TAR_BLOCK]);

/* -1: these bytes are no head of an entry that tar_write() made. */
int tar_read(const unsigned char block[TAR_BLOCK], struct tar_entry *e);

/* What an entry's content takes in the archive. */
static inline uint64_t
tar_padded(uint64_t size)
{
    return (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
}

#endif
