/* SPDX-License-Identifier: MIT */
/* farfs BACKING MOUNT [WORD...] - a file system for the tests, as far ones are:
 * shows the folder BACKING at MOUNT until it is sent SIGTERM.  Two of them on
 * one BACKING are two clients of a server.  Files that are removed while they
 * are open stay under another name (.fuse_hidden..), as NFS does it.
 *
 *   nolock       locks are refused: ENOLCK
 *   nfslock      locks of all clients; exclusive ones need a file that is open
 *                for writing: EBADF
 *   nomap        no shared mappings (no page cache): ENODEV
 *   nolink nofifo nofallocate norename2
 *                hard links, FIFOs and sockets, fallocate(2), flags of
 *                renameat2(2) are refused: EOPNOTSUPP
 *   late         what it has seen of a name, or of a file since it opened that
 *                last, it takes to be so, whatever another client does
 *   fault=FILE   while FILE is there, which holds "ERRNO END": read, write,
 *                fsync and open of files whose path ends so fail
 *
 * O_TMPFILE it has none; its locks are each client's own; inotify(7) tells of
 * one client's changes only. */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    int root; /* BACKING, through which all paths go */
    bool nolock, nfslock, nomap, nolink, nofifo, nofallocate, norename2, late;
    const char *fault;
} far;

#define RELATIVE(path) ((path)[1] == '\0' ? "." : (path) + 1)

static int
result(int rc)
{
    return rc < 0 ? -errno : 0;
}

/* The error that calls for this file are to fail with; 0: none. */
static int
fault(const char *path)
{
    char end[256] = "";
    int number = 0;
    size_t len = strlen(path), tail;
    FILE *f = far.fault == NULL ? NULL : fopen(far.fault, "re");

    if (f == NULL)
        return 0;
    if (fscanf(f, "%d %255s", &number, end) != 2)
        number = 0;
    fclose(f);
    tail = strlen(end);
    return tail <= len && strcmp(path + len - tail, end) == 0 ? -number : 0;
}

static void *
far_init(struct fuse_conn_info *conn, struct fuse_config *config)
{
    const double hour = 3600;

    (void)conn;
    config->use_ino = 1;
    config->direct_io = far.nomap;
    config->attr_timeout = 0;
    config->entry_timeout = config->negative_timeout = far.late ? hour : 0;
    return NULL;
}

/* ---- late: what was seen of files ---- */

static struct seen {
    char *path;
    struct stat st;
} * seen;
static size_t n_seen;

static struct seen *
find_seen(const char *path)
{
    for (size_t i = 0; i < n_seen; i++)
        if (strcmp(seen[i].path, path) == 0)
            return &seen[i];
    return NULL;
}

static void
forget(const char *path)
{
    struct seen *s = find_seen(path);

    if (s == NULL)
        return;
    free(s->path);
    *s = seen[--n_seen];
}

static void
see(const char *path, const struct stat *st)
{
    struct seen *more;

    if (!far.late || !S_ISREG(st->st_mode))
        return;
    more = realloc(seen, (n_seen + 1) * sizeof *seen);
    if (more == NULL)
        return;
    seen = more;
    seen[n_seen++] = (struct seen){strdup(path), *st};
}

static int
far_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
    const struct seen *s = find_seen(path);
    int rc = 0;

    if (s != NULL)
        *st = s->st;
    else if (fi != NULL)
        rc = result(fstat((int)fi->fh, st));
    else
        rc = result(fstatat(far.root, RELATIVE(path), st, AT_SYMLINK_NOFOLLOW));
    if (rc == 0 && s == NULL)
        see(path, st);
    return rc;
}

static int
far_readlink(const char *path, char *out, size_t size)
{
    ssize_t n = readlinkat(far.root, RELATIVE(path), out, size - 1);

    if (n < 0)
        return -errno;
    out[n] = '\0';
    return 0;
}

static int
far_mknod(const char *path, mode_t mode, dev_t device)
{
    if (far.nofifo)
        return -EOPNOTSUPP;
    return result(mknodat(far.root, RELATIVE(path), mode, device));
}

static int
far_mkdir(const char *path, mode_t mode)
{
    return result(mkdirat(far.root, RELATIVE(path), mode));
}

static int
far_unlink(const char *path)
{
    forget(path);
    return result(unlinkat(far.root, RELATIVE(path), 0));
}

static int
far_rmdir(const char *path)
{
    return result(unlinkat(far.root, RELATIVE(path), AT_REMOVEDIR));
}

static int
far_symlink(const char *text, const char *path)
{
    return result(symlinkat(text, far.root, RELATIVE(path)));
}

static int
far_rename(const char *from, const char *to, unsigned flags)
{
    if (flags != 0 && far.norename2)
        return -EINVAL;
    forget(from);
    forget(to);
    return result(
        renameat2(far.root, RELATIVE(from), far.root, RELATIVE(to), flags));
}

static int
far_link(const char *from, const char *to)
{
    if (far.nolink)
        return -EOPNOTSUPP;
    forget(from);
    return result(linkat(far.root, RELATIVE(from), far.root, RELATIVE(to), 0));
}

static int
far_chmod(const char *path, mode_t mode, struct fuse_file_info *fi)
{
    (void)fi;
    forget(path);
    return result(fchmodat(far.root, RELATIVE(path), mode, 0));
}

static int
far_chown(const char *path, uid_t user, gid_t group, struct fuse_file_info *fi)
{
    (void)fi;
    forget(path);
    return result(
        fchownat(far.root, RELATIVE(path), user, group, AT_SYMLINK_NOFOLLOW));
}

static int
far_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
    int fd, rc;

    forget(path);
    if (fi != NULL)
        return result(ftruncate((int)fi->fh, size));
    fd = openat(far.root, RELATIVE(path), O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    rc = result(ftruncate(fd, size));
    close(fd);
    return rc;
}

static int
far_utimens(const char *path, const struct timespec times[2],
            struct fuse_file_info *fi)
{
    (void)fi;
    forget(path);
    return result(
        utimensat(far.root, RELATIVE(path), times, AT_SYMLINK_NOFOLLOW));
}

/* Where the kernel caches writes it may read what was opened for writing. */
static int
far_open_with(const char *path, mode_t mode, struct fuse_file_info *fi)
{
    int rc = fault(path), fd;

    forget(path);
    if (rc != 0)
        return rc;
    fd = openat(far.root, RELATIVE(path),
                (fi->flags & ~(O_APPEND | O_NOFOLLOW)) | O_CLOEXEC, mode);
    if (fd < 0)
        return -errno;
    fi->fh = (uint64_t)fd;
    return 0;
}

static int
far_open(const char *path, struct fuse_file_info *fi)
{
    return far_open_with(path, 0, fi);
}

static int
far_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
    fi->flags |= O_CREAT;
    return far_open_with(path, mode, fi);
}

static int
far_read(const char *path, char *out, size_t size, off_t at,
         struct fuse_file_info *fi)
{
    int rc = fault(path);
    ssize_t n = rc != 0 ? rc : pread((int)fi->fh, out, size, at);

    return rc != 0 ? rc : n < 0 ? -errno : (int)n;
}

static int
far_write(const char *path, const char *bytes, size_t size, off_t at,
          struct fuse_file_info *fi)
{
    int rc = fault(path);
    ssize_t n = rc != 0 ? rc : pwrite((int)fi->fh, bytes, size, at);

    forget(path);
    return rc != 0 ? rc : n < 0 ? -errno : (int)n;
}

static int
far_fsync(const char *path, int data, struct fuse_file_info *fi)
{
    int rc = fault(path);

    (void)data;
    return rc != 0 ? rc : result(fdatasync((int)fi->fh));
}

static int
far_fallocate(const char *path, int mode, off_t at, off_t len,
              struct fuse_file_info *fi)
{
    forget(path);
    if (far.nofallocate)
        return -EOPNOTSUPP;
    return result(fallocate((int)fi->fh, mode, at, len));
}

static int
far_release(const char *path, struct fuse_file_info *fi)
{
    (void)path;
    return result(close((int)fi->fh));
}

static int
far_readdir(const char *path, void *out, fuse_fill_dir_t fill, off_t from,
            struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
    int fd = openat(far.root, RELATIVE(path), O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    (void)from;
    (void)fi;
    (void)flags;
    if (dir == NULL)
        return -errno;
    while ((entry = readdir(dir)) != NULL)
        fill(out, entry->d_name, NULL, 0, 0);
    closedir(dir);
    return 0;
}

static int
no_lock(const char *path, struct fuse_file_info *fi, int what,
        struct flock *lock)
{
    (void)path;
    (void)fi;
    (void)what;
    (void)lock;
    return -ENOLCK;
}

static int
no_flock(const char *path, struct fuse_file_info *fi, int what)
{
    (void)path;
    (void)fi;
    (void)what;
    return -ENOLCK;
}

static int
nfs_flock(const char *path, struct fuse_file_info *fi, int what)
{
    int fd = (int)fi->fh;

    (void)path;
    if ((what & LOCK_EX) != 0 && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
        return -EBADF;
    return result(flock(fd, what | LOCK_NB)); /* nobody waits here */
}

/* Without lock functions the kernel keeps the locks, of this client alone. */
static struct fuse_operations operations = {
    .init = far_init,
    .getattr = far_getattr,
    .readlink = far_readlink,
    .mknod = far_mknod,
    .mkdir = far_mkdir,
    .unlink = far_unlink,
    .rmdir = far_rmdir,
    .symlink = far_symlink,
    .rename = far_rename,
    .link = far_link,
    .chmod = far_chmod,
    .chown = far_chown,
    .truncate = far_truncate,
    .utimens = far_utimens,
    .open = far_open,
    .create = far_create,
    .read = far_read,
    .write = far_write,
    .fsync = far_fsync,
    .fallocate = far_fallocate,
    .release = far_release,
    .readdir = far_readdir,
};

static bool
take_word(const char *word)
{
    const struct {
        const char *name;
        bool *set;
    } words[] = {{"nolock", &far.nolock},
                 {"nfslock", &far.nfslock},
                 {"nomap", &far.nomap},
                 {"nolink", &far.nolink},
                 {"nofifo", &far.nofifo},
                 {"norename2", &far.norename2},
                 {"nofallocate", &far.nofallocate},
                 {"late", &far.late}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].name) == 0)
            return *words[i].set = true;
    if (strncmp(word, "fault=", 6) != 0)
        return false;
    far.fault = word + 6;
    return true;
}

int
main(int argc, char **argv)
{
    char stay[] = "-f", alone[] = "-s", name[] = "-osubtype=farfs";
    char *words[] = {argv[0], stay, alone, name, argc > 2 ? argv[2] : NULL};

    for (int i = 3; i < argc; i++)
        if (!take_word(argv[i]))
            argc = 0;
    far.root = argc < 3 ? -1 : open(argv[1], O_RDONLY | O_DIRECTORY);
    if (far.root < 0) {
        fprintf(stderr, "farfs BACKING MOUNT [WORD...]: see farfs.c\n");
        return 2;
    }
    if (far.nolock) {
        operations.lock = no_lock;
        operations.flock = no_flock;
    }
    if (far.nfslock)
        operations.flock = nfs_flock;
    umask(0);
    return fuse_main(5, words, &operations, NULL);
}
