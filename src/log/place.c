/* SPDX-License-Identifier: MIT */
#include "log/place.h"

#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLACE_RECORD "command.log.at" /* in the experiment's folder */
#define PLACE_OWNER "command.log.of"  /* in the log's */

/* DESIGN
 *
 * Either folder has a file with three lines: a number drawn for the two, the
 * machine, the path of the other folder.  A symbolic link would do with less;
 * but links are not followed in these folders, what copies a folder may or may
 * not follow them, and one whose end is missing does not say on which machine
 * it was.  The number sees to it that nothing is taken for the log which
 * happens to lie at that path: on another machine, or because a stranger's
 * folder names it. */

#define RECORD_MAX (PATH_MAX + 128)
#define SAME_NAME_MAX 10000

struct place {
    uint64_t number;
    char host[65];
    char path[PATH_MAX];
};

static void
name_us(char host[65])
{
    if (gethostname(host, 64) != 0 || host[0] == '\0')
        snprintf(host, 65, "?");
    host[64] = '\0';
}

/* 1: *out has it; 0: there is no such file; -1: err tells. */
static int
read_record(const char *folder, const char *name, struct place *out,
            struct err *err)
{
    char *path = file_join(folder, name), text[RECORD_MAX];
    int fd, at = 0, rc = -1;
    struct stat st;
    ssize_t n = 0;

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        rc = 0;
    else if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
             (n = read(fd, text, sizeof text - 1)) < 0)
        err_errno(err, ERR_LOG, "%s: cannot read, expected a file", path);
    else {
        text[n] = '\0';
        if (n > 1 && text[n - 1] == '\n' &&
            sscanf(text, "%" SCNx64 "\n%64s\n%n", &out->number, out->host,
                   &at) == 2 &&
            at > 0 && text[at] == '/' && n - at <= PATH_MAX) {
            snprintf(out->path, sizeof out->path, "%.*s", (int)(n - at - 1),
                     text + at);
            rc = 1;
        } else {
            err_set(err, ERR_LOG,
                    "%s: expected lines with a number, a machine and a folder",
                    path);
        }
    }
    if (fd >= 0)
        close(fd);
    free(path);
    return rc;
}

static int
write_record(const char *folder, const char *name, uint64_t number,
             const char *to, struct err *err)
{
    char *path = file_join(folder, name), host[65], text[RECORD_MAX];
    int len, rc;

    if (path == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    name_us(host);
    len = snprintf(text, sizeof text, "%016" PRIx64 "\n%s\n%s\n", number, host,
                   to);
    rc = len < (int)sizeof text
             ? file_write(path, text, (size_t)len, err)
             : err_set(err, ERR_LOG, "%s: the folder's path is too long", path);
    free(path);
    return rc;
}

/* Whether the folder at the recorded path, itself no link, was made for this
 * one. */
static bool
is_there(const struct place *at)
{
    int fd = open(at->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct place of;

    if (fd < 0)
        return false;
    close(fd);
    return read_record(at->path, PLACE_OWNER, &of, NULL) == 1 &&
           of.number == at->number;
}

char *
log_place(const char *folder, struct err *err)
{
    char us[65], *path = NULL;
    struct place at;
    int rc = read_record(folder, PLACE_RECORD, &at, err);

    if (rc < 0)
        return NULL;
    if (rc > 0 && !is_there(&at)) {
        name_us(us);
        err_set(err, ERR_LOG,
                "%s: its log was put into %s on machine %s and is not there%s%s"
                " any more (" PLACE_RECORD "): only with it can one go on and "
                "look back; show, report and export tell what results.jsonl "
                "has",
                folder, at.path, at.host,
                strcmp(us, at.host) == 0 ? "" : ", seen from ",
                strcmp(us, at.host) == 0 ? "" : us);
        return NULL;
    }
    path = strdup(rc > 0 ? at.path : folder);
    if (path == NULL)
        err_set(err, ERR_MEMORY, "out of memory");
    return path;
}

/* Makes DIRECTORY/NAME, or a name like it; returns its path, to be freed. */
static char *
make_folder(const char *directory, const char *name, struct err *err)
{
    char *path = NULL, again[16] = "";

    for (int i = 2; i < SAME_NAME_MAX; i++) {
        free(path);
        if (asprintf(&path, "%s/%s%s", directory, name, again) < 0) {
            err_set(err, ERR_MEMORY, "out of memory");
            return NULL;
        }
        if (mkdir(path, 0700) == 0)
            return path;
        if (errno != EEXIST)
            break;
        snprintf(again, sizeof again, "-%d", i);
    }
    err_errno(err, ERR_CONFIG, "commandLogDirectory: %s: cannot make", path);
    free(path);
    return NULL;
}

int
log_place_make(const char *folder, const char *directory, struct err *err)
{
    const char *name = strrchr(folder, '/');
    char *real = NULL, *path = NULL;
    uint64_t number;
    int rc = -1;

    if (file_make_folder(directory, err) != 0)
        return err_place(err, "commandLogDirectory");
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        err_errno(err, ERR_SYSTEM, "cannot draw a number");
    else if ((real = realpath(directory, NULL)) == NULL)
        err_errno(err, ERR_CONFIG, "commandLogDirectory: %s", directory);
    else if ((path = make_folder(real, name == NULL ? folder : name + 1,
                                 err)) != NULL)
        rc = write_record(path, PLACE_OWNER, number, folder, err) != 0 ||
                     write_record(folder, PLACE_RECORD, number, path, err) != 0
                 ? -1
                 : 0;
    if (path != NULL && rc != 0)
        folder_remove(path);
    free(real);
    free(path);
    return rc;
}

/* Whether the log's folder was made for a folder that is still there, another
 * one. */
static bool
is_of_another(const char *folder, const struct place *of)
{
    char *mine = file_join(folder, PLACE_RECORD);
    char *other = file_join(of->path, PLACE_RECORD);
    struct place at;
    bool another = mine != NULL && other != NULL &&
                   !file_is_same(mine, other) &&
                   read_record(of->path, PLACE_RECORD, &at, NULL) == 1 &&
                   at.number == of->number;

    free(mine);
    free(other);
    return another;
}

int
log_place_claim(const char *folder, struct err *err)
{
    char *path = log_place(folder, err);
    struct place of;
    int rc;

    if (path == NULL)
        return -1;
    rc = strcmp(path, folder) == 0 ? 0
                                   : read_record(path, PLACE_OWNER, &of, err);
    if (rc > 0 && is_of_another(folder, &of))
        rc = err_set(
            err, ERR_LOG,
            "%s: is a copy of %s, whose log it would go on with: give "
            "it its own: cp '%s'/command.* '%s', then rm '%s/" PLACE_RECORD "'",
            folder, of.path, path, folder, folder);
    else if (rc > 0 && strcmp(of.path, folder) != 0)
        rc = write_record(path, PLACE_OWNER, of.number, folder, err);
    free(path);
    return rc < 0 ? -1 : 0;
}

void
log_place_remove(const char *folder)
{
    char *path = log_place(folder, NULL);
    char *record = file_join(folder, PLACE_RECORD);

    if (path != NULL && record != NULL && strcmp(path, folder) != 0) {
        folder_remove(path);
        unlink(record);
    }
    free(record);
    free(path);
}
