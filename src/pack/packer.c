/* SPDX-License-Identifier: MIT */
/* DESIGN.  A member is written behind room for its head, which comes last: a
 * member without it is none.  Then it is synced, and only then what it holds is
 * removed, unless that changed meanwhile.  So of all members of a pack the last
 * alone may be torn: it is looked through before the first one is added.  Of a
 * pack whose only member is torn the head is still zeros; any other file
 * without a whole member is somebody else's, or damaged, and is set aside. */
#include "pack/packer.h"

#include "core/err.h"
#include "core/grow.h"
#include "core/gzip.h"
#include "pack/member.h"
#include "pack/tar.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 64
#define PIECE ((size_t)64 << 10)
#define LONG_NAME "its name is longer than an archive's may be"
#define PLACES_MAX ((size_t)256)       /* in a member */
#define RAW_ENOUGH ((uint64_t)4 << 20) /* then another member is begun */

/* What is to be removed once it is on stable storage. */
struct removal {
    char *path; /* from the trials' folder */
    bool folder, stored;
    ino_t ino;
    off_t size;
    struct timespec mtime;
};

struct packer {
    char *trials;
    packer_is_ours *is_ours;
    int trials_fd;
    bool parent_synced;
    /* The pack that was written to last */
    int fd; /* -1: none */
    uint64_t first;
    bool is_new;  /* its name is not on stable storage */
    uint64_t end; /* behind its last whole member */
    /* The member that is being written; body is NULL: none was begun */
    struct gzip_body *body;
    uint64_t to, raw;
    size_t most; /* attempts that its head has room for */
    struct pack_place places[PLACES_MAX];
    size_t n_places;
    struct removal *removals;
    size_t n_removals, removals_cap;
    struct err *left; /* tells of the first file that had to stay */
    struct err aside; /* tells of the last file that was set aside */
    unsigned char piece[PIECE];
};

/* A folder that a walk is in. */
struct level {
    struct level *up;
    const char *path; /* from the trials' folder */
    int fd;
    struct stat st;
    bool stored;
};

/* An attempt whose folder is walked through. */
struct walk {
    struct packer *p;
    const struct pack_trial *trial;
    uint64_t attempt;
    size_t id_len; /* of its name, with the '/' behind it */
    size_t wanted; /* places that this call may still need */
    bool placed;
};

struct packer *
packer_open(const char *trials, packer_is_ours *is_ours, struct err *err)
{
    struct packer *p = calloc(1, sizeof *p);

    if (p == NULL || (p->trials = strdup(trials)) == NULL) {
        free(p);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    p->is_ours = is_ours;
    p->fd = -1;
    p->trials_fd = open(trials, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p->trials_fd >= 0)
        return p;
    err_errno(err, ERR_SYSTEM, "%s: cannot open", trials);
    packer_close(p);
    return NULL;
}

static void
close_pack(struct packer *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

void
packer_close(struct packer *p)
{
    if (p == NULL)
        return;
    close_pack(p);
    if (p->trials_fd >= 0)
        close(p->trials_fd);
    free(p->removals);
    free(p->trials);
    free(p);
}

/* ---- the pack ---- */

static int
fail(const struct packer *p, struct err *err, const char *what)
{
    char name[PACK_NAME_MAX];

    pack_name(p->first, name);
    return err_errno(err, ERR_SYSTEM, "%s/%s: cannot %s", p->trials, name,
                     what);
}

static int
ignore(void *ctx, const void *data, size_t len, struct err *err)
{
    (void)ctx, (void)data, (void)len, (void)err;
    return 0;
}

/* Whether the file begins with what no writer of a pack has put there, as far
 * as that came before its death or the loss of power. */
static bool
is_foreign(const struct packer *p)
{
    static const unsigned char zeros[sizeof pack_magic];
    unsigned char head[sizeof zeros];
    ssize_t n = pread(p->fd, head, sizeof head, 0);

    return n < 0 || (memcmp(head, zeros, (size_t)n) != 0 &&
                     memcmp(head, pack_magic, (size_t)n) != 0);
}

/* Finds the end of the last whole member, and cuts off what is behind it.  1:
 * there is none, and the file is not one that was torn. */
static int
find_end(struct packer *p, struct err *err)
{
    struct pack_index x = {0};
    struct err why = {0};
    int rc = pack_index_grow(&x, p->fd, &why);

    p->end = x.end;
    if (rc == 0 && x.n_members > 0) {
        const struct pack_member *m = &x.members[x.n_members - 1];

        rc =
            gzip_unpack_part(p->fd, m->at, m->size, m->raw, ignore, NULL, &why);
        if (rc != 0 && why.code == ERR_LOG) { /* it is not whole */
            p->end = m->at;
            rc = 0;
        }
    }
    pack_index_fini(&x);
    if (rc != 0 && err != NULL)
        *err = why;
    if (rc == 0 && p->end == 0 && is_foreign(p))
        return 1;
    if (rc == 0 && ftruncate(p->fd, (off_t)p->end) != 0)
        rc = fail(p, err, "cut");
    return rc;
}

/* Gives a file that is no pack another name, which no file has. */
static int
set_aside(struct packer *p, const char *name, struct err *err)
{
    char to[PACK_NAME_MAX + 32];
    struct stat st;
    unsigned i = 1;

    do
        snprintf(to, sizeof to, "%s" PACK_ASIDE "%u", name, i++);
    while (fstatat(p->trials_fd, to, &st, AT_SYMLINK_NOFOLLOW) == 0);
    if (renameat(p->trials_fd, name, p->trials_fd, to) != 0)
        return fail(p, err, "rename");
    err_set(&p->aside, ERR_INPUT,
            "%s/%s is no pack of trials: it is %s from now on", p->trials, name,
            to);
    return 0;
}

/* Opens the file of that name, or makes it; results as find_end(). */
static int
open_file(struct packer *p, const char *name, struct err *err)
{
    const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;

    close_pack(p);
    p->fd = openat(p->trials_fd, name, flags);
    p->is_new = p->fd < 0 && errno == ENOENT;
    if (p->is_new)
        p->fd = openat(p->trials_fd, name, flags | O_CREAT | O_EXCL, 0600);
    return p->fd < 0 ? fail(p, err, "open") : find_end(p, err);
}

static int
open_pack(struct packer *p, uint64_t number, struct err *err)
{
    uint64_t first = number / PACK_TRIALS * PACK_TRIALS;
    char name[PACK_NAME_MAX];
    int rc;

    if (p->fd >= 0 && p->first == first)
        return 0;
    pack_name(number, name);
    p->first = first;
    rc = open_file(p, name, err);
    if (rc == 1)
        rc = set_aside(p, name, err) != 0 ? -1 : open_file(p, name, err);
    if (rc != 0)
        close_pack(p);
    return rc;
}

static int
write_at(const struct packer *p, const void *data, size_t len, uint64_t at,
         struct err *err)
{
    const char *from = data;

    while (len > 0) {
        ssize_t n = pwrite(p->fd, from, len, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(p, err, "write");
        from += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return 0;
}

static int
write_body(void *ctx, const void *data, size_t len, struct err *err)
{
    struct packer *p = ctx;

    if (write_at(p, data, len, p->to, err) != 0)
        return -1;
    p->to += len;
    return 0;
}

static int
begin_member(struct packer *p, uint64_t number, size_t wanted, struct err *err)
{
    if (p->body != NULL)
        return 0;
    if (open_pack(p, number, err) != 0)
        return -1;
    p->body = gzip_body_new(write_body, p);
    if (p->body == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    p->most = wanted < PLACES_MAX ? wanted : PLACES_MAX;
    p->to = p->end + PACK_HEAD(p->most);
    p->raw = 0;
    p->n_places = 0;
    return 0;
}

/* Brings the pack, its name, and once the name of the folder it lies in, to
 * stable storage. */
static int
sync_pack(struct packer *p, struct err *err)
{
    int parent = -1;
    bool ok = fdatasync(p->fd) == 0;

    if (ok && p->is_new)
        ok = fsync(p->trials_fd) == 0;
    if (ok && !p->parent_synced) {
        parent = openat(p->trials_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ok = parent >= 0 && fsync(parent) == 0;
    }
    if (!ok)
        fail(p, err, "sync");
    if (parent >= 0)
        close(parent);
    if (!ok)
        return -1;
    p->is_new = false;
    p->parent_synced = true;
    return 0;
}

static int
finish_member(struct packer *p, struct err *err)
{
    struct pack_member m = {.at = p->end, .raw = p->raw};
    unsigned char *head = malloc(PACK_HEAD(p->most));
    int rc = head == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                          : gzip_body_end(p->body, err);

    if (rc == 0) {
        m.size = p->to - p->end;
        pack_head_write(head, &m, p->places, p->n_places, p->most);
        rc = write_at(p, head, PACK_HEAD(p->most), p->end, err);
    }
    if (rc == 0)
        rc = sync_pack(p, err);
    if (rc == 0)
        p->end = p->to;
    free(head);
    return rc;
}

bool
packer_set_aside(struct packer *p, struct err *told)
{
    *told = p->aside;
    p->aside = (struct err){0};
    return told->code != ERR_NONE;
}

/* ---- removed ---- */

/* Opens the folder in which a path leads to its last part, *name, no part of it
 * by a link.  -1: it is not there any more. */
static int
open_folder_of(const struct packer *p, const char *path, const char **name)
{
    const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int at = p->trials_fd;

    for (const char *slash; (slash = strchr(path, '/')) != NULL;
         path = slash + 1) {
        char part[NAME_MAX + 1];
        int inner;

        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        inner = openat(at, part, flags);
        if (at != p->trials_fd)
            close(at);
        if (inner < 0)
            return -1;
        at = inner;
    }
    *name = path;
    return at;
}

static void
remove_one(const struct removal *r, int at, const char *name)
{
    struct stat st;

    if (r->folder)
        unlinkat(at, name, AT_REMOVEDIR);
    else if (!r->stored || (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                            st.st_ino == r->ino && st.st_size == r->size &&
                            st.st_mtim.tv_sec == r->mtime.tv_sec &&
                            st.st_mtim.tv_nsec == r->mtime.tv_nsec))
        unlinkat(at, name, 0);
}

static size_t
folder_len(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? 0 : (size_t)(slash - path);
}

/* Removes all that is due, unless not all of it is where it should be. */
static void
settle_removals(struct packer *p, bool stored)
{
    const char *last = "", *name;
    int at = -1;

    for (size_t i = 0; i < p->n_removals; i++) {
        const struct removal *r = &p->removals[i];
        size_t len = folder_len(r->path);

        if (!stored)
            continue;
        if (at < 0 || len != folder_len(last) ||
            strncmp(r->path, last, len) != 0) {
            if (at >= 0 && at != p->trials_fd)
                close(at);
            at = open_folder_of(p, r->path, &name);
        }
        last = r->path;
        if (at >= 0)
            remove_one(r, at, r->path + (len > 0 ? len + 1 : 0));
    }
    if (at >= 0 && at != p->trials_fd)
        close(at);
    for (size_t i = 0; i < p->n_removals; i++)
        free(p->removals[i].path);
    p->n_removals = 0;
}

static int
add_removal(struct packer *p, const char *path, const struct stat *st,
            enum pack_fate fate, struct err *err)
{
    struct removal r = {.path = strdup(path),
                        .folder = S_ISDIR(st->st_mode),
                        .stored = fate == PACK_STORED,
                        .ino = st->st_ino,
                        .size = st->st_size,
                        .mtime = st->st_mtim};

    if (r.path == NULL ||
        GROW(p->removals, p->n_removals, p->removals_cap) != 0) {
        free(r.path);
        return err_set(err, ERR_MEMORY, "out of memory");
    }
    p->removals[p->n_removals++] = r;
    return 0;
}

/* The member, if there is one, is complete, or cannot be: removes what is in
 * it. */
static int
end_member(struct packer *p, int rc, struct err *err)
{
    if (rc == 0 && p->body != NULL)
        rc = finish_member(p, err);
    if (rc != 0 && p->body != NULL && ftruncate(p->fd, (off_t)p->end) != 0)
        close_pack(p); /* it is cut when it is opened again */
    gzip_body_free(p->body);
    p->body = NULL;
    p->raw = 0;
    settle_removals(p, rc == 0);
    return rc;
}

/* ---- stored ---- */

static int
add_raw(struct packer *p, const void *data, size_t len, struct err *err)
{
    p->raw += len;
    return gzip_body_add(p->body, data, len, err);
}

/* -1: the name is too long. */
static int
describe(struct tar_entry *e, const char *path, const struct stat *st)
{
    if (strlen(path) > TAR_NAME_MAX)
        return -1;
    memcpy(e->name, path, strlen(path) + 1);
    e->type = S_ISDIR(st->st_mode)   ? TAR_FOLDER
              : S_ISLNK(st->st_mode) ? TAR_LINK
                                     : TAR_FILE;
    e->mode = st->st_mode & 07777;
    e->uid = st->st_uid;
    e->gid = st->st_gid;
    e->size = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0;
    e->mtime = st->st_mtim.tv_sec;
    return 0;
}

/* Begins the member and the attempt in it, where they are not begun yet. */
static int
begin_attempt(struct walk *w, struct err *err)
{
    struct packer *p = w->p;

    if (begin_member(p, w->trial->number, w->wanted, err) != 0)
        return -1;
    if (!w->placed)
        p->places[p->n_places++] = (struct pack_place){
            .number = w->trial->number, .attempt = w->attempt, .from = p->raw};
    w->placed = true;
    return 0;
}

/* Stores the folders that a file lies in, before it. */
static int
store_level(struct walk *w, struct level *l, struct err *err)
{
    struct tar_entry e = {.link = ""};
    unsigned char block[TAR_BLOCK];

    if (l == NULL || l->stored)
        return 0;
    if (store_level(w, l->up, err) != 0 || begin_attempt(w, err) != 0)
        return -1;
    l->stored = true;
    return describe(&e, l->path, &l->st) != 0 || tar_write(&e, block) != 0
               ? 0 /* nothing in it can be stored, either */
               : add_raw(w->p, block, sizeof block, err);
}

/* Something has to stay where it is. */
static int
leave(struct packer *p, const char *path, const char *why)
{
    if (p->left != NULL && p->left->code == ERR_NONE)
        err_set(p->left, ERR_INPUT, "%s/%s stays there: %s", p->trials, path,
                why);
    return 0;
}

static int
leave_unread(struct packer *p, const char *path)
{
    struct err why = {0};

    err_errno(&why, ERR_SYSTEM, "it cannot be read");
    return leave(p, path, why.text);
}

static void
store_holes(struct tar_entry *e)
{
    e->type = TAR_FILE;
    e->size = e->length;
    e->n_parts = 0;
}

/* Finds what lies between the holes of a file; where that is too much the holes
 * are stored, too. */
static void
find_parts(struct tar_entry *e, int fd, const struct stat *st)
{
    off_t at = 0, end;

    if ((uint64_t)st->st_blocks * 512 >= (uint64_t)st->st_size)
        return;
    e->size = 0;
    while (e->n_parts < TAR_PARTS_MAX && (at = lseek(fd, at, SEEK_DATA)) >= 0 &&
           at < st->st_size) {
        end = lseek(fd, at, SEEK_HOLE);
        if (end <= at || end > st->st_size)
            end = st->st_size;
        e->parts[e->n_parts++] =
            (struct tar_part){(uint64_t)at, (uint64_t)(end - at)};
        e->size += (uint64_t)(end - at);
        at = end;
    }
    if (at < 0 && errno == ENXIO) { /* the rest is a hole */
        if (e->n_parts < TAR_PARTS_MAX)
            e->parts[e->n_parts++] =
                (struct tar_part){(uint64_t)st->st_size, 0};
        at = st->st_size;
    }
    e->length = (uint64_t)st->st_size;
    e->type = at == st->st_size && e->size < e->length ? TAR_SPARSE : TAR_FILE;
    if (e->type == TAR_FILE)
        store_holes(e);
}

/* Adds a part of a file.  1: it has become shorter, or cannot be read; zeros
 * stand for the rest. */
static int
add_part(struct packer *p, int fd, struct tar_part part, struct err *err)
{
    int short_of = 0;

    while (part.size > 0) {
        size_t most = part.size < PIECE ? (size_t)part.size : PIECE;
        ssize_t n = short_of ? 0 : pread(fd, p->piece, most, (off_t)part.at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            short_of = 1;
            memset(p->piece, 0, most);
            n = (ssize_t)most;
        }
        if (add_raw(p, p->piece, (size_t)n, err) != 0)
            return -1;
        part.at += (uint64_t)n;
        part.size -= (uint64_t)n;
    }
    return short_of;
}

/* Adds the content of an entry whose head promised it; as add_part(). */
static int
add_content(struct packer *p, int fd, const struct tar_entry *e,
            struct err *err)
{
    static const char zeros[TAR_BLOCK];
    int rc = 0, short_of = 0;

    if (e->type != TAR_SPARSE)
        rc = add_part(p, fd, (struct tar_part){0, e->size}, err);
    for (unsigned i = 0; rc >= 0 && i < e->n_parts; i++) {
        short_of |= rc;
        rc = add_part(p, fd, e->parts[i], err);
    }
    if (rc < 0 ||
        add_raw(p, zeros, (size_t)(tar_padded(e->size) - e->size), err) != 0)
        return -1;
    return short_of | rc;
}

static int
store_opened(struct walk *w, struct level *l, int fd, const char *path,
             struct err *err)
{
    struct tar_entry e = {.link = ""};
    unsigned char block[TAR_BLOCK];
    struct stat st;
    int rc;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return leave(w->p, path, "it is no file any more");
    if (describe(&e, path, &st) != 0)
        return leave(w->p, path, LONG_NAME);
    find_parts(&e, fd, &st);
    if (tar_write(&e, block) != 0 && e.type == TAR_SPARSE)
        store_holes(&e);
    if (tar_write(&e, block) != 0)
        return leave(w->p, path,
                     e.size > TAR_SIZE_MAX ? "it is larger than 8 GiB"
                                           : LONG_NAME);
    if (store_level(w, l, err) != 0 || begin_attempt(w, err) != 0 ||
        add_raw(w->p, block, sizeof block, err) != 0)
        return -1;
    rc = add_content(w->p, fd, &e, err);
    if (rc > 0)
        return leave(w->p, path, "it became shorter while it was read");
    return rc < 0 ? -1 : add_removal(w->p, path, &st, PACK_STORED, err);
}

static int
store_file(struct walk *w, struct level *l, const char *name, const char *path,
           struct err *err)
{
    int fd =
        openat(l->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int rc =
        fd < 0 ? leave_unread(w->p, path) : store_opened(w, l, fd, path, err);

    if (fd >= 0)
        close(fd);
    return rc;
}

static int
store_link(struct walk *w, struct level *l, const char *name, const char *path,
           const struct stat *st, struct err *err)
{
    struct tar_entry e = {.link = ""};
    unsigned char block[TAR_BLOCK];
    ssize_t n = readlinkat(l->fd, name, e.link, sizeof e.link);

    if (n < 0 || n > TAR_LINK_MAX || describe(&e, path, st) != 0 ||
        tar_write(&e, block) != 0)
        return leave(w->p, path, "the link is longer than an archive's may be");
    if (store_level(w, l, err) != 0 || begin_attempt(w, err) != 0 ||
        add_raw(w->p, block, sizeof block, err) != 0)
        return -1;
    return add_removal(w->p, path, st, PACK_STORED, err);
}

/* ---- walked through ---- */

static int walk_folder(struct walk *w, struct level *up, const char *name,
                       const char *path, enum pack_fate fate, bool ours,
                       int depth, struct err *err);

/* Does what is to be done with an entry of the folder. */
static int
walk_entry(struct walk *w, struct level *l, const char *name, const char *path,
           int depth, struct err *err)
{
    struct stat st;
    enum pack_fate fate;
    bool ours;

    if (fstatat(l->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    ours = !S_ISLNK(st.st_mode) &&
           w->p->is_ours(path + w->id_len, S_ISDIR(st.st_mode));
    fate = ours ? w->trial->ours : w->trial->output;
    if (S_ISDIR(st.st_mode))
        return fate == PACK_KEPT && !ours
                   ? 0
                   : walk_folder(w, l, name, path, fate, ours, depth, err);
    if (fate == PACK_KEPT)
        return 0;
    if (fate == PACK_REMOVED || (ours && !S_ISREG(st.st_mode)))
        return add_removal(w->p, path, &st, PACK_REMOVED, err);
    if (S_ISREG(st.st_mode))
        return store_file(w, l, name, path, err);
    if (S_ISLNK(st.st_mode))
        return store_link(w, l, name, path, &st, err);
    return leave(w->p, path, "it is neither a file, a folder nor a link");
}

static int
walk_entries(struct walk *w, struct level *l, int depth, struct err *err)
{
    DIR *folder = fdopendir(l->fd);
    struct dirent *entry;
    int rc = 0;

    if (folder == NULL) {
        close(l->fd);
        return err_set(err, ERR_MEMORY, "out of memory");
    }
    while (rc == 0 && (entry = readdir(folder)) != NULL) {
        char *path = NULL;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (asprintf(&path, "%s/%s", l->path, entry->d_name) < 0)
            return closedir(folder), err_set(err, ERR_MEMORY, "out of memory");
        rc = walk_entry(w, l, entry->d_name, path, depth, err);
        free(path);
    }
    closedir(folder);
    return rc;
}

/* Walks through a folder, which is removed behind what is in it, should that be
 * all. */
static int
walk_folder(struct walk *w, struct level *up, const char *name,
            const char *path, enum pack_fate fate, bool ours, int depth,
            struct err *err)
{
    struct level l = {.up = up, .path = path};

    l.fd = openat(up != NULL ? up->fd : w->p->trials_fd, name,
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (l.fd < 0 && up == NULL && (errno == ENOENT || errno == ENOTDIR))
        return 0; /* an attempt that has no folder */
    if (l.fd < 0)
        return leave_unread(w->p, path);
    if (depth > DEPTH_MAX || fstat(l.fd, &l.st) != 0) {
        close(l.fd);
        return leave(w->p, path, "there are too many folders in each other");
    }
    if (!ours && fate == PACK_STORED && store_level(w, &l, err) != 0) {
        close(l.fd);
        return -1;
    }
    if (walk_entries(w, &l, depth + 1, err) != 0)
        return -1;
    return add_removal(w->p, path, &l.st, PACK_REMOVED, err);
}

static int
put_attempt(struct packer *p, const struct pack_trial *t, uint64_t attempt,
            size_t wanted, struct err *err)
{
    struct walk w = {.p = p, .trial = t, .attempt = attempt, .wanted = wanted};
    char id[PACK_ID_MAX];
    int rc;

    pack_id(t->number, attempt, id);
    w.id_len = strlen(id) + 1;
    rc = walk_folder(&w, NULL, id, id, t->ours, true, 0, err);
    if (rc == 0 &&
        (p->raw >= RAW_ENOUGH || (p->body != NULL && p->n_places == p->most)))
        rc = end_member(p, 0, err);
    return rc;
}

int
packer_put(struct packer *p, const struct pack_trial *trials, size_t n,
           struct err *left, struct err *err)
{
    size_t wanted = 0;
    int rc = 0;

    p->left = left;
    for (size_t i = 0; i < n; i++)
        wanted += trials[i].attempts + 1;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (p->body != NULL &&
            trials[i].number / PACK_TRIALS * PACK_TRIALS != p->first)
            rc = end_member(p, 0, err);
        for (uint64_t k = 0; rc == 0 && k <= trials[i].attempts; k++)
            rc = put_attempt(p, &trials[i], k, wanted--, err);
    }
    return end_member(p, rc, err);
}
