/* SPDX-License-Identifier: MIT */
/* Packs of trials' folders, damaged: what is read of them is bounded by them,
 * what is unpacked stays in its folder, and a packer goes on behind them.
 *
 * The first byte chooses what the others are: a pack, whose first head is given
 * its right checksum; or the archive in a member, with as many places as the
 * first byte says. */
#include "fuzz.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/gzip.h"
#include "fuzz_file.h"
#include "pack/packs.h"
#include "pack/member.h"
#include "pack/packer.h"

#include <string.h>
#include <sys/stat.h>

#define NAME "trials/00000-00999.tar.gz"
#define READ_MAX ((size_t)1 << 20)

static int
take(void *ctx, const void *data, size_t len, struct err *err)
{
    (void)err;
    buf_add(ctx, data, len);
    return 0;
}

/* A member that holds these bytes, as those of trials 0, 1 and so on. */
static void
add_member(struct buf *pack, const uint8_t *data, size_t size, size_t n)
{
    struct pack_member m = {.raw = size};
    struct pack_place places[8];
    struct gzip_body *b = gzip_body_new(take, pack);

    MUST(b != NULL);
    memset(buf_reserve(pack, PACK_HEAD(8)), 0, PACK_HEAD(8));
    pack->len += PACK_HEAD(8);
    MUST(gzip_body_add(b, data, size, NULL) == 0);
    MUST(gzip_body_end(b, NULL) == 0);
    gzip_body_free(b);
    for (size_t i = 0; i < n; i++)
        places[i] = (struct pack_place){.number = i, .from = size / n * i};
    m.size = pack->len;
    pack_head_write((unsigned char *)pack->data, &m, places, n, 8);
}

/* Gives the first head its checksum. */
static void
mend(struct buf *pack)
{
    size_t len;
    uint32_t crc;

    if (pack->len < PACK_HEAD(0))
        return;
    len = (uint8_t)pack->data[14] | (size_t)(uint8_t)pack->data[15] << 8;
    if (len < 8 || len > pack->len - 16)
        return;
    crc = gzip_crc(pack->data + 24, len - 8);
    for (int i = 0; i < 8; i++)
        pack->data[16 + i] = (char)(i < 4 ? crc >> 8 * i & 0xff : 0);
}

struct reading {
    struct packs *k;
    const char *top;
    int n;
};

/* Reads and unpacks an attempt. */
static int
use(void *ctx, uint64_t number, uint64_t attempt)
{
    struct reading *r = ctx;
    char id[PACK_ID_MAX], path[300], to[200];
    struct err err = {0};
    struct buf b;

    pack_id(number, attempt, id);
    buf_init(&b, 4 * READ_MAX);
    snprintf(path, sizeof path, "%s/trials/%s/stdout", r->top, id);
    if (packs_read(r->k, path, READ_MAX, &b, &err) != 0)
        MUST(err.code != ERR_NONE);
    buf_fini(&b);
    snprintf(path, sizeof path, "%s/trials/%s", r->top, id);
    snprintf(to, sizeof to, "%s/to", r->top);
    if (packs_unpack(r->k, path, to, true, &err) == 0)
        MUST(folder_bytes(to) < (uint64_t)64 << 20);
    folder_remove(to);
    return r->n++ > 20;
}

static bool
all_ours(const char *name, bool folder)
{
    (void)name, (void)folder;
    return true;
}

/* A packer goes on with whatever is there. */
static void
go_on(const char *top)
{
    struct pack_trial t = {7, 0, PACK_STORED, PACK_STORED};
    char path[300], trials[200];
    struct packer *p;
    struct err err = {0};
    struct buf b;

    snprintf(trials, sizeof trials, "%s/trials", top);
    snprintf(path, sizeof path, "%s/00007", trials);
    MUST(mkdir(path, 0700) == 0);
    snprintf(path, sizeof path, "%s/00007/stdout", trials);
    MUST(file_write(path, "seven\n", 6, NULL) == 0);
    p = packer_open(trials, all_ours, NULL);
    MUST(p != NULL && packer_put(p, &t, 1, NULL, NULL) == 0);
    packer_close(p);
    MUST(access(path, F_OK) != 0);
    buf_init(&b, 4 * READ_MAX);
    MUST(packs_read(NULL, path, READ_MAX, &b, &err) == 0);
    MUST(strcmp(buf_text(&b), "seven\n") == 0);
    buf_fini(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reading r = {0};
    struct fuzz_file at;
    char path[300], text[300], outside[200];
    struct buf pack;

    if (size < 2)
        return 0;
    fuzz_file_write(&at, "outside", 7);
    r.top = at.folder;
    buf_init(&pack, 8 * size + 65536);
    if (data[0] == 0) {
        buf_add(&pack, data + 1, size - 1);
        mend(&pack);
    } else {
        add_member(&pack, data + 1, size - 1, 1 + data[0] % 8);
    }
    snprintf(path, sizeof path, "%s/trials", at.folder);
    MUST(mkdir(path, 0700) == 0);
    snprintf(outside, sizeof outside, "%s/exit", at.folder);
    snprintf(path, sizeof path, "%s/" NAME, at.folder);
    MUST(file_write(path, pack.data, pack.len, NULL) == 0);
    buf_fini(&pack);
    r.k = packs_new();
    snprintf(path, sizeof path, "%s/trials", at.folder);
    MUST(packs_each(path, use, &r, NULL) == 0);
    packs_damage(path, text, sizeof text);
    packs_free(r.k);
    go_on(at.folder);
    MUST(access(outside, F_OK) != 0); /* nothing came beside */
    folder_remove(path);
    fuzz_file_remove(&at);
    return 0;
}
