/* SPDX-License-Identifier: MIT */
/* folder.h - folders with all that is in them: copied, made durable, measured,
 * removed.  Symbolic links are never followed.  Any thread. */
#ifndef CORE_FOLDER_H
#define CORE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/* Copies a file, a folder with what is in it or a symbolic link to `to`, which
 * must not exist; contents are shared where the file system can.  On failure
 * what was copied stays. */
int folder_copy(const char *from, const char *to, struct err *err);

/* The same, but files are hard links to those of the first: both change when
 * one is written to. */
int folder_link(const char *from, const char *to, struct err *err);

/* Every file and folder within, and the folder itself, to stable storage. */
int folder_sync(const char *path, struct err *err);

/* Bytes that the files within take up on the disk; what cannot be read counts
 * nothing. */
uint64_t folder_bytes(const char *path);

bool folder_is_empty(const char *path);

/* As far as it goes; one that does not exist is fine. */
void folder_remove(const char *path);

#endif
