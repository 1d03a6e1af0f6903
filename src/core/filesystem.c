/* SPDX-License-Identifier: MIT */
#include "core/filesystem.h"

#include "core/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

/* The number of the mount that the open file is reached through; -1: the system
 * does not tell. */
static int
mount_of(int fd)
{
    char path[64], line[256];
    int id = -1;
    FILE *f;

    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    f = fopen(path, "re");
    while (f != NULL && id < 0 && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "mnt_id: %d", &id) != 1)
            id = -1;
    if (f != NULL)
        fclose(f);
    return id;
}

#define LINE_MAX_BYTES 4096

/* What mountinfo says of the open file's file system behind " - ": its type,
 * its source and its options; "" when the system does not tell. */
static void
describe(int fd, char out[LINE_MAX_BYTES])
{
    FILE *f = fopen("/proc/self/mountinfo", "re");
    int id = mount_of(fd), is;
    char line[LINE_MAX_BYTES];
    const char *type;

    out[0] = '\0';
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "%d", &is) == 1 && is == id &&
            (type = strstr(line, " - ")) != NULL)
            snprintf(out, LINE_MAX_BYTES, "%s", type + 3);
    if (f != NULL)
        fclose(f);
}

void
filesystem_name(const char *path, char out[FILESYSTEM_NAME_MAX])
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    char what[LINE_MAX_BYTES];

    describe(fd, what);
    snprintf(out, FILESYSTEM_NAME_MAX, "%.*s", (int)strcspn(what, " \n"),
             what[0] == '\0' ? "unknown" : what);
    if (fd >= 0)
        close(fd);
}

bool
filesystem_shares_locks(int fd)
{
    /* by the option that makes them each machine's own, or its lack of one */
    static const struct {
        const char *type, *local, *needs;
    } known[] = {
        {"nfs ", "nolock", ""},       {"nfs4 ", "local_lock=all", ""},
        {"nfs ", "local_lock=f", ""}, {"nfs ", "local_lock=p", ""},
        {"nfs ", "local_lock=a", ""}, {"cifs ", "nobrl", ""},
        {"smb3 ", "nobrl", ""},       {"lustre ", "localflock", "flock"},
        {"gpfs ", "?", ""},           {"ceph ", "?", ""},
        {"gfs2 ", "localflocks", ""}, {"ocfs2 ", "localflocks", ""}};
    char what[LINE_MAX_BYTES];
    bool shares = false;

    if (!filesystem_is_far(fd))
        return true;
    describe(fd, what);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(what, known[i].type, strlen(known[i].type)) == 0) {
            if (strstr(what, known[i].local) != NULL ||
                strstr(what, known[i].needs) == NULL)
                return false;
            shares = true;
        }
    return shares;
}

bool
filesystem_is_far(int fd)
{
    /* nfs, smb, smb2, cifs, fuse, lustre, gpfs, ceph, afs, kafs, 9p, beegfs,
     * orangefs, ocfs2, gfs2, panfs */
    static const unsigned types[] = {
        0x6969,     0x517b,     0xfe534d42, 0xff534d42, 0x65735546, 0x0bd00bd0,
        0x47504653, 0x00c36400, 0x5346414f, 0x6b414653, 0x01021997, 0x19830326,
        0x20030528, 0x7461636f, 0x01161970, 0xaad7aaea};
    struct statfs st;

    if (fstatfs(fd, &st) != 0)
        return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if ((unsigned)st.f_type == types[i])
            return true;
    return false;
}

static char *
load(int fd, size_t len, const char *path, struct err *err)
{
    char *bytes = mmap(NULL, len, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t got = 0;
    ssize_t n = 1;

    if (bytes == MAP_FAILED) {
        err_set(err, ERR_MEMORY, "%s: out of memory", path);
        return NULL;
    }
    while (got < len && n != 0) {
        n = pread(fd, bytes + got, len - got, (off_t)got);
        if (n < 0 && errno != EINTR)
            break;
        got += n > 0 ? (size_t)n : 0;
    }
    if (got == len)
        return bytes;
    if (n < 0)
        err_errno(err, ERR_LOG, "%s: cannot read", path);
    else
        err_set(err, ERR_LOG, "%s: has become shorter while it was read", path);
    munmap(bytes, len);
    return NULL;
}

const char *
filesystem_view(int fd, size_t len, const char *path, bool *loaded,
                struct err *err)
{
    void *map = MAP_FAILED;

    *loaded = filesystem_is_far(fd);
    if (!*loaded)
        map = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map != MAP_FAILED)
        return map;
    if (!*loaded && errno != ENODEV && errno != ENOSYS) {
        err_errno(err, ERR_LOG, "%s: cannot map", path);
        return NULL;
    }
    *loaded = true;
    return load(fd, len, path, err);
}
