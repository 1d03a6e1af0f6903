/* SPDX-License-Identifier: MIT */
/* tunepipe/checkpoint.h - for a trial that can go on: where an earlier attempt
 * of it was lost, or where another trial was paused.  Manual:
 * tunepipe-trial(3).
 *
 *     const char *from = tp_restore_dir();
 *     int epoch = from ? load(from) : 0;
 *
 *     for (; epoch < 30; epoch++) {
 *         char folder[4096];
 *         double loss = train();
 *         int saves = tp_checkpoint_begin(folder, sizeof(folder)) == 0;
 *
 *         if (saves && save(folder) != 0)
 *             return 1;
 *         if (tp_report_checkpoint(loss, saves ? folder : NULL) != 0)
 *             return 1;
 *     }
 *
 * All of a checkpoint is saved or nothing.  Outside tunepipe beginning one
 * fails with ENOENT.  Nothing to link; threads as in tunepipe/trial.h, each
 * with a folder of its own.  POSIX.1-2008: a compiler that is asked for C99
 * alone (-std=c99) has to be told -D_XOPEN_SOURCE=700. */
#ifndef TUNEPIPE_CHECKPOINT_H
#define TUNEPIPE_CHECKPOINT_H

#include <tunepipe/trial.h>

#include <dirent.h>

/* Folders in folders, at most. */
#define TP_IMPL_DEPTH_MAX 16

/* The newest checkpoint that an earlier attempt of this trial has saved, or the
 * one of the trial that it goes on from, a folder to be read only; NULL: there
 * is none.  See tp_restored_step(). */
static inline const char *
tp_restore_dir(void)
{
    const char *dir = getenv("TUNEPIPE_RESTORE_DIR");

    return dir && *dir ? dir : NULL;
}

/* Makes an empty folder to save into and copies its path to `folder`.  0, or
 * -1 with errno set: ENOENT outside tunepipe, ENAMETOOLONG when the path needs
 * more than `size` bytes. */
static inline int
tp_checkpoint_begin(char *folder, size_t size)
{
    const char *saving = getenv("TUNEPIPE_CHECKPOINT_DIR");
    int pid = (int)getpid();

    if (!saving || !*saving) {
        errno = ENOENT;
        return -1;
    }
    for (int i = 0;; i++) {
        int len = snprintf(folder, size, "%s.%d-%d", saving, pid, i);

        if (len < 0 || (size_t)len >= size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        if (mkdir(folder, S_IRWXU) == 0)
            return 0;
        if (errno != EEXIST)
            return -1;
    }
}

enum tp_impl_walk { TP_IMPL_SYNC, TP_IMPL_REMOVE };

static inline int tp_impl_walk(const char *path, enum tp_impl_walk how,
                               int depth);

/* What is in the folder. */
static inline int
tp_impl_walk_in(const char *path, enum tp_impl_walk how, int depth)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    int status = dir ? 0 : -1;

    while (status == 0 && (entry = readdir(dir)) != NULL) {
        size_t len = strlen(path) + strlen(entry->d_name) + 2;
        char *inner;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        inner = (char *)malloc(len);
        if (inner)
            snprintf(inner, len, "%s/%s", path, entry->d_name);
        status = inner ? tp_impl_walk(inner, how, depth + 1) : -1;
        free(inner);
    }
    if (dir)
        closedir(dir);
    return status;
}

static inline int
tp_impl_sync(const char *path)
{
    int flags = O_RDONLY, fd, status;

#ifdef O_NOFOLLOW
    flags |= O_NOFOLLOW;
#endif
    fd = open(path, flags);
    status = fd < 0 ? -1 : fsync(fd);
    if (fd >= 0)
        close(fd);
    return status;
}

static inline int
tp_impl_walk(const char *path, enum tp_impl_walk how, int depth)
{
    struct stat st;

    if (depth > TP_IMPL_DEPTH_MAX) {
        errno = ELOOP;
        return -1;
    }
    if (lstat(path, &st) != 0)
        return -1;
    if (S_ISDIR(st.st_mode) && tp_impl_walk_in(path, how, depth) != 0)
        return -1;
    if (how == TP_IMPL_REMOVE)
        return remove(path);
    return S_ISLNK(st.st_mode) ? 0 : tp_impl_sync(path);
}

/* Removes a folder that was begun and is not to be saved. */
static inline void
tp_checkpoint_discard(const char *folder)
{
    tp_impl_walk(folder, TP_IMPL_REMOVE, 0);
}

/* What stands in front of the last slash, to be freed; NULL: ENOMEM. */
static inline char *
tp_impl_parent(const char *path)
{
    size_t len = strlen(path);
    char *parent = (char *)malloc(len + 1);

    if (!parent)
        return NULL;
    memcpy(parent, path, len + 1);
    while (len && parent[len] != '/')
        len--;
    parent[len] = '\0';
    return parent;
}

/* The highest number in the folder, 0 where there is none; *n is how many
 * things it holds. */
static inline unsigned long long
tp_impl_newest(const char *path, size_t *n)
{
    unsigned long long newest = 0, number;
    DIR *dir = opendir(path);
    struct dirent *entry;
    char *end;

    *n = 0;
    while (dir && (entry = readdir(dir)) != NULL) {
        *n +=
            strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
        if (*entry->d_name < '0' || *entry->d_name > '9')
            continue;
        number = strtoull(entry->d_name, &end, 10);
        if (!*end && number > newest)
            newest = number;
    }
    if (dir)
        closedir(dir);
    return newest;
}

/* Gives the folder the next number in `parent`: no checkpoint is empty, and a
 * folder that is not is never replaced by a rename. */
static inline int
tp_impl_give_number(const char *folder, const char *parent,
                    unsigned long long *number)
{
    size_t size = strlen(parent) + 32, n;
    char *to = (char *)malloc(size);
    int status = -1;

    *number = tp_impl_newest(parent, &n);
    while (to && status != 0) {
        snprintf(to, size, "%s/%llu", parent, ++*number);
        status = rename(folder, to);
        if (status != 0 && errno != EEXIST && errno != ENOTEMPTY)
            break;
    }
    free(to);
    return status;
}

/* Puts what was written into the folder on stable storage; EINVAL: nothing
 * was. */
static inline int
tp_impl_draft(const char *folder)
{
    size_t n;

    tp_impl_newest(folder, &n);
    if (!n) {
        errno = EINVAL;
        return -1;
    }
    return tp_impl_walk(folder, TP_IMPL_SYNC, 0);
}

/* Gives the folder its number and says so, which counts the reports before. */
static inline int
tp_impl_publish(const char *folder)
{
    unsigned long long number;
    char *parent = tp_impl_parent(folder), text[32];
    off_t end;
    int status;

    if (!parent)
        return -1;
    status = tp_impl_give_number(folder, parent, &number);
    if (status == 0) {
        tp_impl_sync(parent);
        snprintf(text, sizeof(text), "%llu", number);
        status = tp_impl_line("checkpoint ", text, "", &end);
    }
    free(parent);
    return status;
}

/* Saves what was written into the folder, which is then gone.  0, or -1 with
 * errno set: EINVAL when it is empty; it is then as it was, to be discarded.
 *
 * The state behind a step is saved behind the report of that step: one that is
 * saved before counts as the step before, and whoever goes on from it does that
 * step twice.  tp_report_checkpoint() does both. */
static inline int
tp_checkpoint_commit(const char *folder)
{
    return tp_impl_draft(folder) == 0 ? tp_impl_publish(folder) : -1;
}

static inline int
tp_impl_report_checkpoint(const char *json, const char *folder,
                          const char *mark)
{
    if (folder && tp_impl_draft(folder) != 0)
        return -1;
    return tp_impl_wait_then(json, mark, folder ? tp_impl_publish : NULL,
                             folder);
}

/* Reports an intermediate result and saves, as the checkpoint behind it, what
 * was written into the folder that tp_checkpoint_begin() made: the state of the
 * trial behind the step whose result this is.  What was written is on stable
 * storage before the result is reported, and a checkpoint before the result is
 * judged; so no step is done twice.
 *
 * 0, or -1 with errno set as tp_checkpoint_commit() and tp_report() do: then
 * the folder, unless it is gone, is to be discarded, and where it could not be
 * saved nothing was reported.  Without a folder (NULL), as outside tunepipe,
 * the result alone is reported. */
static inline int
tp_report_checkpoint_json(const char *json, const char *folder)
{
    return tp_impl_report_checkpoint(json, folder,
                                     tp_impl_lockstep() ? "\t" : NULL) < 0
               ? -1
               : 0;
}

static inline int
tp_report_checkpoint(double value, const char *folder)
{
    char text[64];

    tp_impl_text(value, text, sizeof(text));
    return tp_report_checkpoint_json(text, folder);
}

/* Reports a result with its checkpoint and waits until it is judged, as
 * tp_report_sync() does. */
static inline int
tp_report_sync_checkpoint_json(const char *json, const char *folder)
{
    return tp_impl_report_checkpoint(json, folder, "\t\t");
}

static inline int
tp_report_sync_checkpoint(double value, const char *folder)
{
    char text[64];

    tp_impl_text(value, text, sizeof(text));
    return tp_report_sync_checkpoint_json(text, folder);
}

#endif
