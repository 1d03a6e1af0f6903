/* SPDX-License-Identifier: MIT */
#include "agent/ferry.h"

#include "agent/wire.h"
#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"
#include "trial/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART ((size_t)256 << 10)
#define HELD_MAX ((size_t)1 << 20) /* that the wire has not written yet */
#define DEPTH_MAX 64
#define NAME_BYTES 4096 /* of a frame beside its part of a file */

struct item {
    struct link link;
    char code[2];
    const char *root; /* a file's; NULL: the texts are all of it */
    char *token, *path, *as;
    off_t from, upto;
    struct buf texts;
};

/* ---- names ---- */

/* "trials/00003.1", of trials/00003.1/prepare, too. */
char *
ferry_trial(const char *token)
{
    const char *name = strchr(token, '/');

    return name != NULL ? strndup(token, (size_t)(name - token) + 1 +
                                             strcspn(name + 1, "/"))
                        : NULL;
}

char *
ferry_checkpoints(const char *token)
{
    const char *name = strchr(token, '/');
    char *path;

    return name == NULL || asprintf(&path, TRIAL_CHECKPOINTS "/%.*s",
                                    (int)strcspn(name + 1, "./"), name + 1) < 0
               ? NULL
               : path;
}

static bool
is_within(char *folder, const char *path, bool itself)
{
    size_t len = folder != NULL ? strlen(folder) : 0;
    bool so = len > 0 && strncmp(path, folder, len) == 0 &&
              (path[len] == '/' || (path[len] == '\0' && itself));

    free(folder);
    return so;
}

static bool
is_of_checkpoint(const char *path)
{
    return strncmp(path, TRIAL_CHECKPOINTS "/",
                   strlen(TRIAL_CHECKPOINTS) + 1) == 0;
}

/* No path leads upwards, and each is one of the trial's; `itself`: may be one
 * of its two folders. */
static bool
is_allowed(const char *token, const char *path, bool itself)
{
    size_t len;

    for (const char *at = path; *at != '\0'; at += len + (at[len] == '/')) {
        len = strcspn(at, "/");
        if (len == 0 || strncmp(at, "..", len) == 0)
            return false;
    }
    return is_within(ferry_trial(token), path, itself) ||
           is_within(ferry_checkpoints(token), path, itself);
}

/* ---- sent ---- */

static void
item_free(struct item *i)
{
    list_remove(&i->link);
    free(i->token);
    free(i->path);
    free(i->as);
    buf_fini(&i->texts);
    free(i);
}

static struct item *
add(struct ferry *f, const char code[2])
{
    struct item *i = calloc(1, sizeof *i);

    if (i == NULL)
        return NULL;
    memcpy(i->code, code, sizeof i->code);
    buf_init(&i->texts, (size_t)4 << 20);
    list_add(&f->items, NULL, &i->link, i);
    return i;
}

void
ferry_say(struct ferry *f, const char code[2], struct buf *texts)
{
    struct item *i = add(f, code);

    if (i != NULL) {
        buf_fini(&i->texts);
        i->texts = *texts;
        buf_init(texts, 0);
    }
}

static void
say(struct ferry *f, const char code[2], const char *const texts[])
{
    struct item *i = add(f, code);

    for (; i != NULL && *texts != NULL; texts++)
        texts_add(&i->texts, *texts);
}

void
ferry_file(struct ferry *f, const char *root, const char *token,
           const char *path, const char *as, off_t from, off_t upto)
{
    struct item *i = add(f, AGENT_FILE);

    if (i == NULL)
        return;
    i->root = root;
    i->token = strdup(token);
    i->path = strdup(path);
    i->as = strdup(as != NULL ? as : path);
    i->from = from;
    i->upto = upto;
    if (i->token == NULL || i->path == NULL || i->as == NULL)
        item_free(i);
}

void
ferry_folder(struct ferry *f, const char *token, const char *path)
{
    say(f, AGENT_FILE, (const char *const[]){token, path, "d", NULL});
}

void
ferry_rename(struct ferry *f, const char *token, const char *from,
             const char *to)
{
    say(f, AGENT_RENAMED, (const char *const[]){token, from, to, NULL});
    if (f->items.last != NULL)
        ((struct item *)f->items.last->of)->path = strdup(from);
}

static bool
add_link(struct ferry *f, int at, const char *name, const char *token,
         const char *as)
{
    char to[NAME_BYTES];
    ssize_t n = readlinkat(at, name, to, sizeof to - 1);

    if (n < 0)
        return false;
    to[n] = '\0';
    say(f, AGENT_FILE, (const char *const[]){token, as, "l", to, NULL});
    return true;
}

static bool
is_among(const char *const names[], const char *name)
{
    while (names != NULL && *names != NULL && strcmp(*names, name) != 0)
        names++;
    return names != NULL && *names != NULL;
}

/* What a walk is about: what is left out, and how long the path is of where it
 * began. */
struct tree {
    const char *const *skip;
    size_t len;
    int depth;
};

static bool add_tree(struct ferry *f, int at, const char *name,
                     const struct item *whole, struct tree tree);

/* Takes the descriptor. */
static bool
add_inner(struct ferry *f, int fd, const struct item *whole, struct tree tree)
{
    DIR *all = fdopendir(fd);
    struct dirent *entry;
    bool complete = all != NULL;

    tree.depth++;
    if (all == NULL)
        close(fd);
    while (all != NULL && (entry = readdir(all)) != NULL) {
        struct item inner = *whole;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        inner.path = file_join(whole->path, entry->d_name);
        inner.as = file_join(whole->as, entry->d_name);
        if (inner.path == NULL || inner.as == NULL)
            complete = false;
        else if (!is_among(tree.skip, inner.path + tree.len + 1))
            complete &= add_tree(f, fd, entry->d_name, &inner, tree);
        free(inner.path);
        free(inner.as);
    }
    if (all != NULL)
        closedir(all);
    return complete;
}

/* `whole` holds the paths of what lies there. */
static bool
add_tree(struct ferry *f, int at, const char *name, const struct item *whole,
         struct tree tree)
{
    struct stat st;
    int fd;

    if (tree.depth > DEPTH_MAX || strlen(whole->as) > NAME_BYTES / 2 ||
        fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    if (S_ISREG(st.st_mode)) {
        ferry_file(f, whole->root, whole->token, whole->path, whole->as, 0, -1);
    } else if (S_ISFIFO(st.st_mode)) {
        say(f, AGENT_FILE,
            (const char *const[]){whole->token, whole->as, "p", NULL});
    } else if (S_ISLNK(st.st_mode)) {
        return add_link(f, at, name, whole->token, whole->as);
    } else if (S_ISDIR(st.st_mode)) {
        ferry_folder(f, whole->token, whole->as);
        fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd >= 0 && add_inner(f, fd, whole, tree);
    }
    return true;
}

bool
ferry_tree(struct ferry *f, const char *root, const char *token,
           const char *path, const char *as, const char *const skip[])
{
    char *whole = file_join(root, path);
    const struct item of = {.root = root,
                            .token = (char *)token,
                            .path = (char *)path,
                            .as = (char *)(as != NULL ? as : path)};

    const struct tree tree = {.skip = skip, .len = strlen(path)};
    bool complete = whole != NULL && add_tree(f, AT_FDCWD, whole, &of, tree);

    free(whole);
    return complete;
}

/* ---- one after the other ---- */

static void
end_first(struct ferry *f)
{
    if (f->begun && f->fd >= 0)
        close(f->fd);
    f->begun = false;
    item_free(f->items.first->of);
}

static void
open_first(struct ferry *f, const struct item *i)
{
    char *path = file_join(i->root, i->path);
    struct stat st = {0};

    f->begun = true;
    f->fd = path != NULL ? file_open_plain(path, O_RDONLY) : -1;
    free(path);
    if (f->fd >= 0)
        fstat(f->fd, &st);
    f->torn |= f->fd < 0 && is_of_checkpoint(i->path);
    f->size = i->upto >= 0 && i->upto < st.st_size ? i->upto : st.st_size;
    f->at = i->from < f->size ? i->from : f->size;
}

/* A hole is passed over: what it is among is not written there either. */
static void
pass_hole(struct ferry *f)
{
    off_t data = lseek(f->fd, f->at, SEEK_DATA);

    if (data > f->at)
        f->at = data < f->size ? data : f->size;
    else if (data < 0 && errno == ENXIO)
        f->at = f->size;
}

/* The next part of a file; false: that was the last one. */
static bool
say_part(struct ferry *f, struct wire *w, const struct item *i)
{
    struct buf texts;
    struct stat st;
    char kind[16], at[32], *to;
    ssize_t n = 0;
    bool more;

    pass_hole(f);
    buf_init(&texts, PART + 3 * NAME_BYTES);
    if (fstat(f->fd, &st) == 0)
        snprintf(kind, sizeof kind, "f%o", (unsigned)st.st_mode & 0700);
    else
        snprintf(kind, sizeof kind, "f600");
    snprintf(at, sizeof at, "%lld", (long long)f->at);
    texts_add(&texts, i->token);
    texts_add(&texts, i->as);
    texts_add(&texts, kind);
    texts_add(&texts, at);
    more = f->size - f->at > (off_t)PART;
    texts_add(&texts, more ? "" : "last");
    to = buf_reserve(&texts, PART);
    if (to != NULL && f->at < f->size)
        n = pread(f->fd, to, more ? PART : (size_t)(f->size - f->at), f->at);
    texts.len += n > 0 ? (size_t)n : 0;
    f->at += n > 0 ? n : 0;
    f->torn |=
        (n < 0 || (!more && f->at < f->size)) && is_of_checkpoint(i->path);
    wire_say_texts(w, AGENT_FILE, &texts);
    buf_fini(&texts);
    return more && n > 0;
}

/* Whether it is not to be said, as what stands before it is not whole. */
static bool
is_in_vain(struct ferry *f, const struct item *i)
{
    bool guards = memcmp(i->code, AGENT_START, sizeof i->code) == 0 ||
                  (i->path != NULL && is_of_checkpoint(i->path));
    bool torn = f->torn && guards;

    f->torn &= !guards;
    return torn;
}

bool
ferry_go_on(struct ferry *f, struct wire *w)
{
    while (f->items.first != NULL && wire_is_open(w) &&
           w->unsent.len < HELD_MAX) {
        struct item *i = f->items.first->of;

        if (i->root == NULL) {
            if (!is_in_vain(f, i))
                wire_say_texts(w, i->code, &i->texts);
            else if (memcmp(i->code, AGENT_START, sizeof i->code) == 0)
                return false;
            end_first(f);
            continue;
        }
        if (!f->begun)
            open_first(f, i);
        if (f->fd < 0 || !say_part(f, w, i))
            end_first(f);
    }
    return true;
}

bool
ferry_is_empty(const struct ferry *f)
{
    return f->items.first == NULL;
}

void
ferry_clear(struct ferry *f)
{
    while (f->items.first != NULL)
        end_first(f);
    f->torn = false;
}

/* ---- received ---- */

/* Opens the folder in which it lies, no link among them, making what is not
 * there; *name becomes its name in that. */
static int
open_parent(const char *root, const char *path, const char **name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int at = open(root, flags), next;
    char part[256];
    size_t len;

    for (*name = path; at >= 0 && (*name)[len = strcspn(*name, "/")] == '/';
         *name += len + 1) {
        if (len >= sizeof part) {
            close(at);
            errno = ENAMETOOLONG;
            return -1;
        }
        snprintf(part, sizeof part, "%.*s", (int)len, *name);
        if (mkdirat(at, part, 0700) != 0 && errno != EEXIST) {
            close(at);
            return -1;
        }
        next = openat(at, part, flags);
        close(at);
        at = next;
    }
    return at;
}

/* What stands in its place and is of another kind goes, a folder (at that
 * path, in which no link is) with all that is in it. */
static void
make_way(int at, const char *name, const char *whole, mode_t kind)
{
    struct stat st;

    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
        (st.st_mode & S_IFMT) == kind)
        return;
    if (S_ISDIR(st.st_mode))
        folder_remove(whole);
    else
        unlinkat(at, name, 0);
}

static int
take_part(int at, const char *name, const char *kind, struct said *said)
{
    const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    off_t to = (off_t)said_number(said);
    const char *last = said_text(said);
    size_t len = (size_t)(said->end - said->at);
    int fd, rc = 0;

    if (last == NULL || len == 0 || to < 0) { /* the line feed is there */
        errno = EPROTO;
        return -1;
    }
    len--;
    fd = openat(at, name, flags, 0600);
    for (size_t done = 0; fd >= 0 && rc == 0 && done < len;) {
        ssize_t n = pwrite(fd, said->at + done, len - done, to + (off_t)done);

        if (n > 0)
            done += (size_t)n;
        else if (errno != EINTR)
            rc = -1;
    }
    if (fd < 0)
        return -1;
    if (rc == 0) /* of a checkpoint all is waited for, at its end */
        sync_file_range(fd, to, (off_t)len, SYNC_FILE_RANGE_WRITE);
    if (rc == 0 && *last != '\0')
        rc = ftruncate(fd, to + (off_t)len);
    if (rc == 0 && *last != '\0')
        rc = fchmod(fd, 0600 | (strtoul(kind + 1, NULL, 8) & 0100));
    close(fd);
    return rc;
}

static int
take_link(int at, const char *name, const char *to)
{
    if (to == NULL) {
        errno = EPROTO;
        return -1;
    }
    unlinkat(at, name, 0);
    return symlinkat(to, at, name);
}

static int
take_thing(int at, const char *name, const char *whole, const char *kind,
           struct said *said)
{
    int rc;

    switch (*kind) {
    case 'f':
        make_way(at, name, whole, S_IFREG);
        return take_part(at, name, kind, said);
    case 'd':
        make_way(at, name, whole, S_IFDIR);
        rc = mkdirat(at, name, 0700);
        break;
    case 'p':
        make_way(at, name, whole, S_IFIFO);
        rc = mkfifoat(at, name, 0600);
        break;
    case 'l':
        make_way(at, name, whole, S_IFLNK);
        return take_link(at, name, said_text(said));
    default:
        errno = EPROTO;
        return -1;
    }
    return rc != 0 && errno == EEXIST ? 0 : rc;
}

/* Whether nothing on the way there is a link. */
static bool
is_straight(const char *root, const char *path)
{
    const char *name;
    int at = open_parent(root, path, &name);

    if (at >= 0)
        close(at);
    return at >= 0;
}

static int
sync_folder_of(const char *path)
{
    char *folder = file_folder(path);
    int fd =
        folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int rc = fd >= 0 ? fsync(fd) : -1;

    if (fd >= 0)
        close(fd);
    free(folder);
    return rc;
}

/* A folder is complete, and on stable storage, before it has its name. */
static int
rename_folder(const char *from, const char *to)
{
    struct stat st;

    if (lstat(to, &st) == 0) {
        folder_remove(from);
        return 0;
    }
    return folder_sync(from, NULL) == 0 && rename(from, to) == 0
               ? sync_folder_of(to)
               : -1;
}

static int
take_rename(struct ferry_taken *t, const char *root, const char *path,
            const char *as, struct err *err)
{
    char *from = file_join(root, path), *to = file_join(root, as);
    struct stat st;
    int rc = 0;

    errno = ENOMEM;
    if (from == NULL || to == NULL || !is_straight(root, path) ||
        !is_straight(root, as) || lstat(from, &st) != 0)
        rc = -1;
    else if (strcmp(path, t->torn) == 0)
        folder_remove(from);
    else if (S_ISDIR(st.st_mode))
        rc = rename_folder(from, to);
    else
        rc = rename(from, to);
    t->torn[0] = '\0';
    if (rc != 0)
        err_errno(err, ERR_SYSTEM, "%s/%s: cannot become %s", root, path, as);
    free(from);
    free(to);
    return rc;
}

/* Of a checkpoint's file: the folder of that, "checkpoints/ID/given.N". */
static void
note_torn(struct ferry_taken *t, const char *path)
{
    size_t len = 0;

    if (!is_of_checkpoint(path))
        return;
    for (int i = 0; i < 3 && path[len] != '\0'; i++)
        len += (size_t)(i > 0) + strcspn(path + len + (i > 0), "/");
    snprintf(t->torn, sizeof t->torn, "%.*s", (int)len, path);
}

static int
refuse(const char *token, const char *path, struct err *err)
{
    return err_set(err, ERR_PROTOCOL,
                   "%.100s: got the file '%.200s', expected one of the "
                   "trial's folders",
                   token, path != NULL ? path : "");
}

int
ferry_take(struct ferry_taken *t, const char *code, struct said *said,
           const char *root, const char *token, struct err *err)
{
    const char *path = said_text(said), *second = said_text(said), *name;
    bool renames = strcmp(code, AGENT_RENAMED) == 0;
    char *whole;
    int at, rc;

    if (second == NULL ||
        !is_allowed(token, path, !renames && *second == 'd') ||
        (renames && !is_allowed(token, second, false)))
        return refuse(token, path, err);
    if (renames)
        return take_rename(t, root, path, second, err);
    whole = file_join(root, path);
    at = open_parent(root, path, &name);
    rc = at < 0 || whole == NULL ? -1
                                 : take_thing(at, name, whole, second, said);
    if (rc != 0) {
        err_errno(err, ERR_SYSTEM, "%s/%s: cannot write", root, path);
        note_torn(t, path);
    }
    if (at >= 0)
        close(at);
    free(whole);
    return rc;
}
