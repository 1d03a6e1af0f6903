/* SPDX-License-Identifier: MIT */
/* DESIGN.  Two small tables, the least recently used entry of which goes: the
 * indexes of packs, and members as they are unpacked.  A member that is small,
 * as nearly all are, is unpacked into memory; a large one into a file without a
 * name, which is mapped. */
#include "pack/packs.h"

#include "core/buf.h"
#include "core/err.h"
#include "core/file.h"
#include "core/gzip.h"
#include "pack/member.h"
#include "pack/tar.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PACKS 4
#define MEMBERS 32
#define SMALL ((uint64_t)8 << 20) /* of a member in memory */
#define ROOM ((uint64_t)64 << 20) /* for all of them */
#define TEMPORARY_MAX 32

struct pack {
    char *path; /* NULL: none */
    int fd;
    struct pack_index index;
    uint64_t used;
};

struct member {
    const struct pack *pack; /* NULL: none */
    uint64_t at, size, used;
    char *bytes;
    bool mapped;
};

struct packs {
    struct pack packs[PACKS];
    struct member members[MEMBERS];
    uint64_t clock, room_used;
};

/* A path into the folder of an attempt. */
struct place {
    char trials[PATH_MAX];
    uint64_t number, attempt;
    const char *entry; /* the attempt's folder and what is in it */
    size_t id_len;
};

struct packs *
packs_new(void)
{
    return calloc(1, sizeof(struct packs));
}

static void
forget_member(struct packs *k, struct member *m)
{
    if (m->pack == NULL)
        return;
    if (m->mapped) {
        munmap(m->bytes, m->size);
    } else {
        free(m->bytes);
        k->room_used -= m->size;
    }
    *m = (struct member){0};
}

static void
forget_pack(struct packs *k, struct pack *p)
{
    for (size_t i = 0; i < MEMBERS; i++)
        if (k->members[i].pack == p)
            forget_member(k, &k->members[i]);
    if (p->path != NULL)
        close(p->fd);
    free(p->path);
    pack_index_fini(&p->index);
    *p = (struct pack){0};
}

void
packs_free(struct packs *k)
{
    if (k == NULL)
        return;
    for (size_t i = 0; i < PACKS; i++)
        forget_pack(k, &k->packs[i]);
    free(k);
}

/* ---- packs ---- */

static bool
is_missing(int why)
{
    return why == ENOENT || why == ENOTDIR;
}

/* Takes a path apart that leads into the folder of an attempt. */
static bool
place_of(const char *path, struct place *p)
{
    static const char trials[] = "trials/";
    const size_t len = sizeof trials - 1;

    for (const char *at = path + strlen(path); at > path; at--) {
        const char *id = at;

        if (at[-1] != '/' || (size_t)(at - path) < len ||
            memcmp(at - len, trials, len) != 0 ||
            (at - path > (ptrdiff_t)len && at[-(ptrdiff_t)len - 1] != '/'))
            continue;
        p->id_len = strcspn(id, "/");
        if (!pack_id_read(id, p->id_len, &p->number, &p->attempt) ||
            (size_t)(at - path) >= sizeof p->trials)
            continue;
        memcpy(p->trials, path, (size_t)(at - path) - 1);
        p->trials[at - path - 1] = '\0';
        p->entry = id;
        return true;
    }
    return false;
}

static struct pack *
remember_pack(struct packs *k, char *path, int fd)
{
    struct pack *p = &k->packs[0];

    for (size_t i = 1; i < PACKS; i++)
        if (k->packs[i].used < p->used)
            p = &k->packs[i];
    forget_pack(k, p);
    p->path = path;
    p->fd = fd;
    return p;
}

/* The pack that the trial is in, with what was appended to it meanwhile.  NULL:
 * there is none, as errno ENOENT says, or it cannot be read. */
static struct pack *
pack_of(struct packs *k, const struct place *at, struct err *err)
{
    char name[PACK_NAME_MAX], *path;
    struct pack *p = NULL;
    int fd, why = 0;

    pack_name(at->number, name);
    path = file_join(at->trials, name);
    if (path == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        errno = ENOMEM;
        return NULL;
    }
    for (size_t i = 0; i < PACKS && p == NULL; i++)
        if (k->packs[i].path != NULL && strcmp(k->packs[i].path, path) == 0)
            p = &k->packs[i];
    if (p == NULL) {
        fd = file_open_plain(path, O_RDONLY);
        if (fd >= 0) {
            p = remember_pack(k, path, fd);
            path = NULL;
        } else {
            why = is_missing(errno) ? ENOENT : errno;
            if (why == ENXIO || why == ELOOP)
                err_set(err, ERR_SYSTEM,
                        "%s: is no file, expected a pack of trials, or "
                        "nothing: it can be moved elsewhere",
                        path);
            else
                err_errno(err, ERR_SYSTEM, "%s: cannot open", path);
        }
    }
    free(path);
    errno = why;
    if (p == NULL)
        return NULL;
    p->used = ++k->clock;
    if (pack_index_grow(&p->index, p->fd, err) == 0)
        return p;
    why = errno;
    err_place(err, "%s", p->path);
    errno = why;
    return NULL;
}

/* ---- members ---- */

struct filling {
    struct member *m;
    int fd; /* of a file that is to be mapped; -1: into memory */
    uint64_t at;
};

static int
fill(void *ctx, const void *data, size_t len, struct err *err)
{
    struct filling *f = ctx;

    if (f->fd >= 0)
        return file_write_all(f->fd, data, len, err);
    memcpy(f->m->bytes + f->at, data, len); /* no more than m->size come */
    f->at += len;
    return 0;
}

static int
unpack_large(const struct pack *p, const struct pack_member *from,
             struct member *m, struct err *err)
{
    FILE *file = tmpfile();
    struct filling f = {.m = m, .fd = file == NULL ? -1 : fileno(file)};
    struct stat st;
    void *bytes = MAP_FAILED;
    int rc;

    if (file == NULL)
        return err_errno(err, ERR_SYSTEM, "cannot make a temporary file");
    rc =
        gzip_unpack_part(p->fd, from->at, from->size, from->raw, fill, &f, err);
    if (rc == 0 && (fstat(f.fd, &st) != 0 || (uint64_t)st.st_size != from->raw))
        rc = err_set(err, ERR_LOG, "holds less than it should");
    if (rc == 0)
        bytes = mmap(NULL, from->raw, PROT_READ, MAP_PRIVATE, f.fd, 0);
    if (rc == 0 && bytes == MAP_FAILED)
        rc = err_errno(err, ERR_SYSTEM, "cannot map a temporary file");
    fclose(file);
    m->bytes = rc == 0 ? bytes : NULL;
    m->mapped = true;
    return rc;
}

static int
unpack_small(const struct pack *p, const struct pack_member *from,
             struct member *m, struct err *err)
{
    struct filling f = {.m = m, .fd = -1};
    int rc;

    m->bytes = malloc(from->raw > 0 ? from->raw : 1);
    if (m->bytes == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    rc =
        gzip_unpack_part(p->fd, from->at, from->size, from->raw, fill, &f, err);
    if (rc == 0 && f.at != from->raw)
        rc = err_set(err, ERR_LOG, "holds less than it should");
    if (rc != 0)
        free(m->bytes);
    return rc;
}

/* The one to be forgotten next. */
static struct member *
oldest(struct packs *k, bool in_memory)
{
    struct member *found = NULL;

    for (size_t i = 0; i < MEMBERS; i++) {
        struct member *m = &k->members[i];

        if (in_memory && (m->pack == NULL || m->mapped))
            continue;
        if (found == NULL || m->used < found->used)
            found = m;
    }
    return found;
}

/* The bytes of the archive in a member; NULL: err tells what is damaged, and
 * errno is EBADMSG, or what failed. */
static const char *
bytes_of(struct packs *k, const struct pack *p, size_t member, struct err *err)
{
    const struct pack_member *from = &p->index.members[member];
    bool small = from->raw <= SMALL;
    struct member *m;

    for (size_t i = 0; i < MEMBERS; i++) {
        m = &k->members[i];
        if (m->pack == p && m->at == from->at) {
            m->used = ++k->clock;
            return m->bytes;
        }
    }
    m = oldest(k, false);
    forget_member(k, m);
    while (small && k->room_used + from->raw > ROOM)
        forget_member(k, oldest(k, true));
    errno = 0;
    if ((small ? unpack_small : unpack_large)(p, from, m, err) != 0) {
        *m = (struct member){0};
        err_place(err, "%s: the member at byte %llu is damaged", p->path,
                  (unsigned long long)from->at);
        if (err != NULL && err->code == ERR_LOG)
            err->code = ERR_INPUT; /* it costs itself */
        errno = errno != 0 ? errno : EBADMSG;
        return NULL;
    }
    m->pack = p;
    m->at = from->at;
    m->size = from->raw;
    m->used = ++k->clock;
    k->room_used += small ? from->raw : 0;
    return m->bytes;
}

/* ---- entries ---- */

/* Walks through the entries of an attempt in one member. */
struct entries {
    const char *at, *end, *content;
    struct tar_entry entry;
};

static bool
is_file(const struct tar_entry *e)
{
    return e->type == TAR_FILE || e->type == TAR_SPARSE;
}

static uint64_t
length_of(const struct tar_entry *e)
{
    return e->type == TAR_SPARSE ? e->length : e->size;
}

static bool
next_entry(struct entries *e)
{
    if ((size_t)(e->end - e->at) < TAR_BLOCK ||
        tar_read((const unsigned char *)e->at, &e->entry) != 0 ||
        e->entry.size > (uint64_t)(e->end - e->at) - TAR_BLOCK)
        return false;
    e->content = e->at + TAR_BLOCK;
    e->at = tar_padded(e->entry.size) <= (uint64_t)(e->end - e->content)
                ? e->content + tar_padded(e->entry.size)
                : e->end;
    return true;
}

static int
entries_of(struct packs *k, const struct pack *p, const struct pack_place *from,
           struct entries *e, struct err *err)
{
    const char *bytes = bytes_of(k, p, from->member, err);

    if (bytes == NULL)
        return -1;
    *e = (struct entries){.at = bytes + from->from, .end = bytes + from->to};
    return 0;
}

/* Finds an entry of this name, a file unless `any`; e stays valid until the
 * handle is used again.  1: there is none. */
static int
find_entry(struct packs *k, const struct place *at, bool any, struct entries *e,
           struct err *err)
{
    const struct pack *p = pack_of(k, at, err);
    const struct pack_place *places;
    size_t n;

    if (p == NULL)
        return errno == ENOENT ? 1 : -1;
    places = pack_index_find(&p->index, at->number, at->attempt, &n);
    for (size_t i = 0; i < n; i++) {
        if (entries_of(k, p, &places[i], e, err) != 0)
            return -1;
        while (next_entry(e))
            if (strcmp(e->entry.name, at->entry) == 0 &&
                (any || is_file(&e->entry)))
                return 0;
    }
    return 1;
}

/* ---- files ---- */

/* Calls for a path that is in no folder with a handle. */
static int
find_packed(struct packs **k, struct packs **own, const char *path,
            struct entries *e, struct err *err)
{
    struct place at;
    int rc;

    if (!place_of(path, &at))
        return 1;
    if (*k == NULL)
        *k = *own = packs_new();
    if (*k == NULL) {
        errno = ENOMEM;
        return err_set(err, ERR_MEMORY, "out of memory");
    }
    rc = find_entry(*k, &at, false, e, err);
    return rc;
}

/* Writes the content into a new file, with its holes. */
static int
write_content(int fd, const struct entries *e, struct err *err)
{
    const char *from = e->content;

    if (e->entry.type != TAR_SPARSE)
        return file_write_all(fd, from, e->entry.size, err);
    for (unsigned i = 0; i < e->entry.n_parts; i++) {
        const struct tar_part *p = &e->entry.parts[i];

        if (lseek(fd, (off_t)p->at, SEEK_SET) < 0)
            return err_errno(err, ERR_SYSTEM, "cannot write");
        if (file_write_all(fd, from, p->size, err) != 0)
            return -1;
        from += p->size;
    }
    return ftruncate(fd, (off_t)e->entry.length) == 0
               ? 0
               : err_errno(err, ERR_SYSTEM, "cannot write");
}

static int
copy_of(const struct entries *e)
{
    int fd = memfd_create("packed", MFD_CLOEXEC);

    if (fd >= 0 &&
        (write_content(fd, e, NULL) != 0 || lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Appends the content, with zeros for its holes. */
static void
add_content(struct buf *b, const struct entries *e)
{
    const char *from = e->content;
    char *to = buf_reserve(b, length_of(&e->entry) + 1);

    if (to == NULL)
        return;
    if (e->entry.type == TAR_SPARSE)
        memset(to, 0, e->entry.length);
    else
        memcpy(to, from, e->entry.size);
    for (unsigned i = 0; i < e->entry.n_parts; i++) {
        memcpy(to + e->entry.parts[i].at, from, e->entry.parts[i].size);
        from += e->entry.parts[i].size;
    }
    b->len += length_of(&e->entry);
}

int
packs_open(struct packs *k, const char *path, struct err *err)
{
    int fd = file_open_plain(path, O_RDONLY), why = errno, rc;
    struct packs *own = NULL;
    struct entries e;

    if (fd >= 0)
        return fd;
    rc = is_missing(why) ? find_packed(&k, &own, path, &e, err) : 1;
    if (rc < 0)
        why = errno;
    if (rc == 0) {
        fd = copy_of(&e);
        why = errno;
    }
    packs_free(own);
    errno = why;
    if (fd < 0 && rc >= 0)
        err_errno(err, ERR_SYSTEM, "%s: cannot open", path);
    errno = why;
    return fd;
}

int
packs_read(struct packs *k, const char *path, size_t max, struct buf *b,
           struct err *err)
{
    struct err why = {0};
    struct packs *own = NULL;
    struct entries e;
    int rc = file_read_plain(path, max, b, &why);

    if (rc == 0 || !is_missing(why.number)) {
        if (rc != 0 && err != NULL)
            *err = why;
        return rc;
    }
    rc = find_packed(&k, &own, path, &e, err);
    if (rc > 0) {
        rc = -1;
        if (err != NULL)
            *err = why;
    } else if (rc == 0 && length_of(&e.entry) > max) {
        rc = err_set(err, ERR_INPUT, "%s: longer than %zu bytes", path, max);
    } else if (rc == 0) {
        add_content(b, &e);
        rc = buf_check(b, path, err);
    }
    packs_free(own);
    return rc;
}

bool
packs_is_packed(struct packs *k, const char *path)
{
    struct packs *own = NULL;
    const struct pack *p;
    struct entries e;
    struct place at;
    size_t n = 0;

    if (!place_of(path, &at))
        return false;
    if (k == NULL)
        k = own = packs_new();
    if (k != NULL && at.entry[at.id_len] != '\0') {
        n = find_entry(k, &at, true, &e, NULL) == 0;
    } else if (k != NULL) {
        p = pack_of(k, &at, NULL);
        if (p != NULL)
            pack_index_find(&p->index, at.number, at.attempt, &n);
    }
    packs_free(own);
    return n > 0;
}

bool
packs_has(struct packs *k, const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 || packs_is_packed(k, path);
}

char *
packs_path(const char *folder)
{
    char name[PACK_NAME_MAX];
    struct place at;

    if (!place_of(folder, &at))
        return NULL;
    pack_name(at.number, name);
    return file_join(at.trials, name);
}

/* ---- all of a folder ---- */

typedef int each_pack(void *ctx, const char *path, const struct pack_index *x);

/* Calls for each pack, in no order. */
static int
walk_packs(const char *trials, each_pack *each, void *ctx, struct err *err)
{
    DIR *folder = opendir(trials);
    struct dirent *entry;
    uint64_t first;
    int rc = 0, bad = 0;

    while (rc == 0 && folder != NULL && (entry = readdir(folder)) != NULL) {
        struct pack_index x = {0};
        char *path;
        int fd;

        if (!pack_name_read(entry->d_name, &first))
            continue;
        path = file_join(trials, entry->d_name);
        fd = path == NULL ? -1 : file_open_plain(path, O_RDONLY);
        if (fd < 0) {
            bad = err_errno(err, ERR_SYSTEM, "%s/%s: cannot open", trials,
                            entry->d_name);
        } else {
            if (pack_index_grow(&x, fd, err) != 0)
                bad = err_place(err, "%s", path);
            rc = each(ctx, path, &x);
            close(fd);
        }
        pack_index_fini(&x);
        free(path);
    }
    if (folder != NULL)
        closedir(folder);
    return bad;
}

struct telling {
    packs_attempt *take;
    void *ctx;
};

static int
tell_attempts(void *ctx, const char *path, const struct pack_index *x)
{
    const struct telling *to = ctx;
    int rc = 0;

    (void)path;
    for (size_t i = 0; rc == 0 && i < x->n; i++)
        rc = to->take(to->ctx, x->places[i].number, x->places[i].attempt);
    return rc;
}

int
packs_each(const char *trials, packs_attempt *take, void *ctx, struct err *err)
{
    struct telling to = {take, ctx};

    return walk_packs(trials, tell_attempts, &to, err);
}

struct damage {
    char *out;
    size_t size;
    bool found;
};

static int
tell_damage(void *ctx, const char *path, const struct pack_index *x)
{
    struct damage *d = ctx;

    if (x->damaged == 0)
        return 0;
    d->found = true;
    snprintf(d->out, d->size,
             "%s: damaged at byte %llu: what was packed there is lost, all "
             "else is read",
             path, (unsigned long long)x->damaged_at);
    return 1;
}

bool
packs_damage(const char *trials, char *out, size_t size)
{
    struct damage d = {out, size, false};

    walk_packs(trials, tell_damage, &d, NULL);
    return d.found;
}

/* ---- unpacked ---- */

struct unpacking {
    int to_fd;
    const char *to, *folder; /* of the attempt, for people */
    size_t id_len;
    bool fill;
};

/* Opens the folder of a path in the folder that is unpacked to, made where it
 * is missing; no part of it may be a link, "" or "..". */
static int
open_parent(const struct unpacking *u, const char *path, const char **name,
            struct err *err)
{
    int at = dup(u->to_fd);

    *name = path;
    for (;;) {
        size_t len = strcspn(path, "/");
        char part[NAME_MAX + 1];
        int inner;

        if (len == 0 || len > NAME_MAX || (len == 1 && path[0] == '.') ||
            (len == 2 && memcmp(path, "..", 2) == 0)) {
            if (at >= 0)
                close(at);
            return err_set(err, ERR_INPUT, "%s: holds a file of no name",
                           u->folder);
        }
        if (at < 0)
            return err_errno(err, ERR_SYSTEM, "%s: cannot make a folder",
                             u->to);
        *name = path;
        if (path[len] == '\0')
            return at;
        memcpy(part, path, len);
        part[len] = '\0';
        mkdirat(at, part, 0700);
        inner =
            openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(at);
        at = inner;
        path += len + 1;
    }
}

/* Makes a file of a name that nothing has. */
static int
open_temporary(int at, char name[TEMPORARY_MAX])
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = -1;

    for (unsigned i = 0; fd < 0 && i < UINT_MAX; i++) {
        snprintf(name, TEMPORARY_MAX, PACKS_TEMPORARY "%u", i);
        fd = openat(at, name, flags, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

/* Writes a file under another name, which it gets when it is complete. */
static int
unpack_file(int at, const char *name, const struct entries *e, struct err *err)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                                {.tv_sec = e->entry.mtime}};
    char temporary[TEMPORARY_MAX];
    int fd = open_temporary(at, temporary), rc;

    if (fd < 0)
        return err_errno(err, ERR_SYSTEM, "cannot create");
    rc = write_content(fd, e, err);
    if (rc == 0 &&
        (fchmod(fd, e->entry.mode & 0777) != 0 || futimens(fd, times) != 0 ||
         fsync(fd) != 0 || renameat(at, temporary, at, name) != 0))
        rc = err_errno(err, ERR_SYSTEM, "cannot write");
    close(fd);
    if (rc != 0)
        unlinkat(at, temporary, 0);
    return rc;
}

static int
unpack_entry(const struct unpacking *u, const struct entries *e,
             struct err *err)
{
    const char *name;
    struct stat st;
    int at = open_parent(u, e->entry.name + u->id_len + 1, &name, err);
    int rc = 0;

    if (at < 0)
        return -1;
    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        rc = 0; /* it is newer than what is packed, or was unpacked before */
    else if (is_file(&e->entry))
        rc = unpack_file(at, name, e, err);
    else if ((e->entry.type == TAR_FOLDER
                  ? mkdirat(at, name, (e->entry.mode & 0777) | 0700)
                  : symlinkat(e->entry.link, at, name)) != 0)
        rc = err_errno(err, ERR_SYSTEM, "cannot make");
    if (rc == 0)
        fsync(at);
    close(at);
    return rc == 0
               ? 0
               : err_place(err, "%s/%s", u->to, e->entry.name + u->id_len + 1);
}

/* Without `fill` no file that is packed may be there. */
static int
refuse_existing(const struct unpacking *u, const struct entries *e,
                struct err *err)
{
    const char *path = e->entry.name + u->id_len + 1;
    struct stat st;

    if (u->fill || e->entry.type == TAR_FOLDER ||
        fstatat(u->to_fd, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return 0;
    return err_set(err, ERR_INPUT,
                   "%s/%s: is there, expected nothing that would be "
                   "overwritten: it can be removed, or --to names another "
                   "folder",
                   u->to, path);
}

typedef int each_entry(const struct unpacking *u, const struct entries *e,
                       struct err *err);

/* Calls for all that is packed of an attempt, of two of one name for the later
 * one first. */
static int
walk_attempt(struct packs *k, const struct place *at, const struct unpacking *u,
             each_entry *each, struct err *err)
{
    const struct pack *p = pack_of(k, at, err);
    const struct pack_place *places;
    struct entries e;
    size_t n = 0;
    int rc = 0;

    if (p == NULL && errno != ENOENT)
        return -1;
    if (p != NULL)
        places = pack_index_find(&p->index, at->number, at->attempt, &n);
    if (n == 0)
        return err_set(err, ERR_INPUT,
                       "%s: no pack has it, expected one of a trial that has "
                       "ended and whose files are packed",
                       u->folder);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = entries_of(k, p, &places[i], &e, err);
        while (rc == 0 && next_entry(&e))
            if (strncmp(e.entry.name, at->entry, at->id_len) == 0 &&
                e.entry.name[at->id_len] == '/')
                rc = each(u, &e, err);
    }
    return rc;
}

static int
unpack_into(struct packs *k, const struct place *at, struct unpacking *u,
            struct err *err)
{
    bool there = mkdir(u->to, 0700) != 0 && errno == EEXIST;
    int rc;

    u->to_fd = open(u->to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (u->to_fd < 0)
        return err_errno(err, ERR_SYSTEM, "%s: cannot make the folder", u->to);
    rc = there ? walk_attempt(k, at, u, refuse_existing, err) : 0;
    if (rc == 0)
        rc = walk_attempt(k, at, u, unpack_entry, err);
    close(u->to_fd);
    if (rc != 0 && !there)
        rmdir(u->to);
    return rc;
}

int
packs_unpack(struct packs *k, const char *folder, const char *to, bool fill_in,
             struct err *err)
{
    struct packs *own = NULL;
    struct place at;
    struct unpacking u = {.to = to, .folder = folder, .fill = fill_in};
    int rc;

    if (!place_of(folder, &at) || at.entry[at.id_len] != '\0')
        return err_set(err, ERR_INPUT, "%s: no folder of a trial", folder);
    if (k == NULL)
        k = own = packs_new();
    u.id_len = at.id_len;
    rc = k == NULL ? err_set(err, ERR_MEMORY, "out of memory")
                   : unpack_into(k, &at, &u, err);
    packs_free(own);
    return rc;
}
