/* SPDX-License-Identifier: MIT */
/* own.h - whether a file or folder is the caller's and nobody else's to write
 * to: who can change it decides what is run because of it.
 *
 * The bit that lets a group write is let pass where the group has the number
 * of the file's owner: where each user has a group of his own (umask 002) that
 * is him alone.  Any thread. */
#ifndef CORE_OWN_H
#define CORE_OWN_H

struct err;

enum own_flags {
    OWN_OR_ROOTS = 1, /* root's will do, too */
    OWN_STICKY = 2,   /* a folder in which only owners rename will do */
};

/* 0; -1: it is not, or cannot be looked at, and err (ERR_CONFIG) says whose it
 * is and what to do.  Symbolic links are followed. */
int own_check(const char *path, unsigned flags, struct err *err);

/* Whether a shared object and the folder that holds it, as named and behind
 * links, are the caller's or root's. */
int own_check_plugin(const char *file, struct err *err);

#endif
