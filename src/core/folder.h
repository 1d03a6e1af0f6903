/* SPDX-License-Identifier: MIT */
/* folder.h - folders with all that is in them: copied, made durable, measured,
 * removed.  Symbolic links are never followed.  Any thread. */
#ifndef CORE_FOLDER_H
#define CORE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/* Makes the folder, as file_make_folder() does, for thousands of folders that
 * come and go in it: ext4 then spreads them over the disk, since it looks at
 * each inode that was freed near by within the last minutes before it gives
 * one out. */
int folder_make_roomy(const char *path, struct err *err);

/* Copies a file, a folder with what is in it or a symbolic link to `to`, which
 * must not exist; contents are shared where the file system can.  On failure
 * what was copied stays. */
int folder_copy(const char *from, const char *to, struct err *err);

/* Copies as folder_copy() does, but files become hard links to the first ones:
 * both change when one is written to. */
int folder_link(const char *from, const char *to, struct err *err);

/* Brings the folder and every file and folder in it to stable storage. */
int folder_sync(const char *path, struct err *err);

/* Bytes that the files in a folder take up on the disk; what cannot be read
 * counts nothing. */
uint64_t folder_bytes(const char *path);

bool folder_is_empty(const char *path);

/* Removes a folder as far as it can; one that does not exist is fine. */
void folder_remove(const char *path);

#endif
