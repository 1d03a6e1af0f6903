/* SPDX-License-Identifier: MIT */
#include "torture.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "pack/packer.h"
#include "pack/packs.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
all_ours(const char *name, bool folder)
{
    (void)name, (void)folder;
    return true;
}

/* What is read, from the folder or the pack, is what was written. */
static int
check(struct packs *k, struct err *err)
{
    struct buf b;
    int rc;

    buf_init(&b, 1 << 20);
    rc = packs_read(k, "trials/00001/stdout", 100, &b, err);
    if (rc == 0 && (b.len != 4 || memcmp(b.data, "one\n", 4) != 0))
        rc = err_set(err, ERR_INPUT, "another text");
    buf_fini(&b);
    return rc;
}

/* What there may be then, the folders last. */
static const char *const made[] = {"trials/00001/stdout",
                                   "trials/00001",
                                   "trials/00000-00999.tar.gz",
                                   "trials",
                                   "to/stdout",
                                   "to/.unpacking-0",
                                   "to"};

/* No memory, nothing lost. */
static int
pack_and_unpack(struct err *err)
{
    const struct pack_trial t = {1, 0, PACK_STORED, PACK_STORED};
    struct packer *p;
    struct packs *k;
    int rc = -1;

    if (mkdir("trials", 0700) != 0 || mkdir("trials/00001", 0700) != 0 ||
        file_write("trials/00001/stdout", "one\n", 4, err) != 0)
        goto over;
    p = packer_open("trials", all_ours, err);
    rc = p == NULL ? -1 : packer_put(p, &t, 1, NULL, err);
    packer_close(p);
    if (rc != 0 && access("trials/00001/stdout", F_OK) != 0)
        rc = err_set(err, ERR_INPUT, "it is gone");
    k = rc == 0 ? packs_new() : NULL;
    if (rc == 0 && k == NULL)
        rc = err_set(err, ERR_MEMORY, "no memory for a handle");
    if (rc == 0)
        rc = check(k, err);
    if (rc == 0)
        rc = packs_unpack(k, "trials/00001", "to", false, err);
    packs_free(k);
over:
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (unlink(made[i]) != 0)
            rmdir(made[i]);
    return rc;
}

const struct torture_case torture_pack[] = {
    {"pack", pack_and_unpack, 1 /* tmpfile(), asprintf() */}, {NULL, NULL, 0}};
