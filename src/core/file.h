/* SPDX-License-Identifier: MIT */
/* file.h - whole files and folders: capped reading, owner-only writing. */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;

/* Appends the whole file to b; more than `max` bytes is an error. */
int file_read(const char *path, size_t max, struct buf *b, struct err *err);

/* Writes a new file of mode 0600, or replaces one, by rename: a reader sees
 * the old content or the new, never half of it. */
int file_write(const char *path, const void *data, size_t len, struct err *err);

/* Opening, reading and writing what lies where a trial may write: neither the
 * last part of the path nor the folder it lies in may be a symbolic link, and
 * what is opened is a regular file, so that opening or reading waits for
 * nobody. ELOOP (of the folder ENOTDIR): a link; ENXIO: no file.  One that
 * O_CREAT makes is its owner's. */
int file_open_plain(const char *path, int flags);
int file_read_plain(const char *path, size_t max, struct buf *b,
                    struct err *err);
int file_write_plain(const char *path, const void *data, size_t len,
                     struct err *err);

/* Makes the folder (0700) and its missing parents; existing ones are fine. */
int file_make_folder(const char *path, struct err *err);

/* Writes everything, through EINTR and short writes. */
int file_write_all(int fd, const void *data, size_t len, struct err *err);

/* Whether both paths lead to one and the same file. */
bool file_is_same(const char *one, const char *other);

/* Whether files in the folder can give back what lies in their middle. */
bool file_can_be_holed(const char *folder);

/* The folder that a file lies in, to be freed; NULL when out of memory. */
char *file_folder(const char *path);

/* "FOLDER/NAME", to be freed; NULL when out of memory. */
char *file_join(const char *folder, const char *name);

/* Whether there is something of that name in the folder. */
bool file_has(const char *folder, const char *name);

/* Where lib/ is, from the program's folder.  A wheel has it elsewhere: `pip
 * install --target` keeps that name for itself. */
#ifndef TP_LIB
#define TP_LIB "../lib"
#endif

/* The folder this program's executable lies in, to be freed; NULL when the
 * system does not tell. */
char *file_program_folder(void);

/* The path, to be freed, of a file that is installed in share/tunepipe and that
 * in the source tree lies in `tree`, where it was written; NULL: it is not
 * there. */
char *file_shared(const char *tree, const char *name);

#endif
