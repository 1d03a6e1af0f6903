/* SPDX-License-Identifier: MIT */
#include "pack/tar.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define GNU_MAGIC "ustar  " /* and a NUL */
#define MAGIC \
    "ustar\0" \
    "00"

enum { NAME = 100, NUMBER = 8, LONG_NUMBER = 12, PREFIX = 155 };

/* What stands where in a head. */
enum {
    AT_NAME = 0,
    AT_MODE = 100,
    AT_UID = 108,
    AT_GID = 116,
    AT_SIZE = 124,
    AT_MTIME = 136,
    AT_CHECKSUM = 148,
    AT_TYPE = 156,
    AT_LINK = 157,
    AT_MAGIC = 257,
    AT_PREFIX = 345,
    /* with GNU_MAGIC */
    AT_PARTS = 386,
    AT_LENGTH = 483,
};

/* ---- written ---- */

/* Octal digits and a NUL; a number that has more of them becomes 0. */
static void
put_number(unsigned char *to, size_t width, uint64_t v)
{
    if (v >> 3 * (width - 1) != 0)
        v = 0;
    for (size_t i = width - 1; i > 0; i--, v >>= 3)
        to[i - 1] = (unsigned char)('0' + (v & 7));
}

/* Writes a number as an octal one; one with more digits stands in 11 bytes
 * behind 128.
 */
static void
put_large(unsigned char *to, uint64_t v)
{
    if (v <= TAR_SIZE_MAX) {
        put_number(to, LONG_NUMBER, v);
        return;
    }
    to[0] = 128;
    for (size_t i = LONG_NUMBER - 1; i > 0; i--, v >>= 8)
        to[i] = (unsigned char)(v & 0xff);
}

static void
put_parts(unsigned char block[TAR_BLOCK], const struct tar_entry *e)
{
    for (unsigned i = 0; i < e->n_parts; i++) {
        unsigned char *to = block + AT_PARTS + 2 * i * LONG_NUMBER;

        put_large(to, e->parts[i].at);
        put_large(to + LONG_NUMBER, e->parts[i].size);
    }
    put_large(block + AT_LENGTH, e->length);
}

/* Puts the name, parted at a '/' where it is long. */
static int
put_name(unsigned char block[TAR_BLOCK], const char *name, bool folder)
{
    size_t len = strlen(name), cut = 0;

    if (len + folder > NAME) {
        cut = len > PREFIX ? PREFIX : len - 1;
        while (cut > 0 && name[cut] != '/')
            cut--;
        if (cut == 0 || len - cut - 1 + folder > NAME)
            return -1;
        memcpy(block + AT_PREFIX, name, cut);
        cut++;
    }
    memcpy(block + AT_NAME, name + cut, len - cut);
    if (folder)
        block[AT_NAME + len - cut] = '/';
    return 0;
}

/* The sum of all bytes, those of the checksum being spaces. */
static unsigned
checksum(const unsigned char block[TAR_BLOCK])
{
    unsigned sum = NUMBER * ' ';

    for (size_t i = 0; i < TAR_BLOCK; i++)
        sum += i >= AT_CHECKSUM && i < AT_CHECKSUM + NUMBER ? 0 : block[i];
    return sum;
}

int
tar_write(const struct tar_entry *e, unsigned char block[TAR_BLOCK])
{
    memset(block, 0, TAR_BLOCK);
    if (put_name(block, e->name, e->type == TAR_FOLDER) != 0 ||
        strlen(e->link) > TAR_LINK_MAX || e->size > TAR_SIZE_MAX)
        return -1;
    put_number(block + AT_MODE, NUMBER, e->mode & 07777);
    put_number(block + AT_UID, NUMBER, e->uid);
    put_number(block + AT_GID, NUMBER, e->gid);
    put_number(block + AT_SIZE, LONG_NUMBER, e->size);
    put_number(block + AT_MTIME, LONG_NUMBER,
               e->mtime > 0 ? (uint64_t)e->mtime : 0);
    block[AT_TYPE] = (unsigned char)e->type;
    memcpy(block + AT_LINK, e->link, strlen(e->link));
    if (e->type == TAR_SPARSE && block[AT_PREFIX] != 0)
        return -1;
    if (e->type == TAR_SPARSE) {
        memcpy(block + AT_MAGIC, GNU_MAGIC, sizeof GNU_MAGIC);
        put_parts(block, e);
    } else {
        memcpy(block + AT_MAGIC, MAGIC, sizeof MAGIC - 1);
    }
    put_number(block + AT_CHECKSUM, NUMBER - 1, checksum(block));
    block[AT_CHECKSUM + NUMBER - 1] = ' ';
    return 0;
}

/* ---- read ---- */

static bool
get_number(const unsigned char *from, size_t width, uint64_t *v)
{
    size_t i = 0;

    *v = 0;
    for (; i < width && from[i] >= '0' && from[i] <= '7'; i++)
        *v = *v << 3 | (uint64_t)(from[i] - '0');
    return i > 0 && (i == width || from[i] == '\0' || from[i] == ' ');
}

static bool
get_large(const unsigned char *from, uint64_t *v)
{
    if (from[0] != 128)
        return get_number(from, LONG_NUMBER, v);
    *v = 0;
    for (size_t i = LONG_NUMBER - 8; i < LONG_NUMBER; i++)
        *v = *v << 8 | from[i];
    return from[1] == 0 && from[2] == 0 && from[3] == 0;
}

/* Takes the parts, which lie in the file behind one another. */
static bool
get_parts(const unsigned char block[TAR_BLOCK], struct tar_entry *e)
{
    uint64_t end = 0, size = 0;

    if (!get_large(block + AT_LENGTH, &e->length) || e->length > INT64_MAX)
        return false;
    for (; e->n_parts < TAR_PARTS_MAX; e->n_parts++) {
        const unsigned char *from =
            block + AT_PARTS + 2 * e->n_parts * LONG_NUMBER;
        struct tar_part *p = &e->parts[e->n_parts];

        if (from[0] == 0)
            break;
        if (!get_large(from, &p->at) ||
            !get_large(from + LONG_NUMBER, &p->size) || p->at < end ||
            p->at > e->length || p->size > e->length - p->at)
            return false;
        end = p->at + p->size;
        size += p->size;
    }
    return size == e->size;
}

/* Takes the name, without the '/' at the end of a folder's. */
static bool
get_name(const unsigned char block[TAR_BLOCK], struct tar_entry *e)
{
    const char *prefix = (const char *)block + AT_PREFIX;
    int before = e->type == TAR_SPARSE ? 0 : (int)strnlen(prefix, PREFIX);
    const char *name = (const char *)block + AT_NAME;
    size_t len;

    snprintf(e->name, sizeof e->name, "%.*s%s%.*s", before, prefix,
             before > 0 ? "/" : "", NAME, name);
    len = strlen(e->name);
    if (e->type == TAR_FOLDER && len > 0 && e->name[len - 1] == '/')
        e->name[--len] = '\0';
    return len > 0;
}

int
tar_read(const unsigned char block[TAR_BLOCK], struct tar_entry *e)
{
    uint64_t mode, mtime, sum;

    *e = (struct tar_entry){0};
    if (memcmp(block + AT_MAGIC,
               block[AT_TYPE] == TAR_SPARSE ? GNU_MAGIC : MAGIC,
               sizeof MAGIC - 1) != 0 ||
        !get_number(block + AT_CHECKSUM, NUMBER, &sum) ||
        sum != checksum(block) || !get_number(block + AT_MODE, NUMBER, &mode) ||
        !get_number(block + AT_UID, NUMBER, &e->uid) ||
        !get_number(block + AT_GID, NUMBER, &e->gid) ||
        !get_number(block + AT_SIZE, LONG_NUMBER, &e->size) ||
        !get_number(block + AT_MTIME, LONG_NUMBER, &mtime))
        return -1;
    e->type = (enum tar_type)block[AT_TYPE];
    e->mode = (unsigned)mode & 07777;
    e->mtime = (int64_t)mtime;
    snprintf(e->link, sizeof e->link, "%.*s", TAR_LINK_MAX,
             (const char *)block + AT_LINK);
    if (!get_name(block, e))
        return -1;
    switch (e->type) {
    case TAR_FILE:
        return 0;
    case TAR_SPARSE:
        return get_parts(block, e) ? 0 : -1;
    case TAR_LINK:
    case TAR_FOLDER:
        return e->size == 0 ? 0 : -1;
    }
    return -1;
}
