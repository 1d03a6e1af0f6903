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
    OWN_OR_ROOTS = 1, /* a file of root's will do, too */
    /* a folder where only owners may rename (sticky) will do */
    OWN_STICKY = 2,
};

/* 0: the file or folder is the caller's alone; -1: it is not, or cannot be
 * looked at, and err (ERR_CONFIG) says whose it is and what to do.  Symbolic
 * links are followed. */
int own_check(const char *path, unsigned flags, struct err *err);

/* own_check() for a shared object and the folder that holds it, as named and
 * behind links; root's will do. */
int own_check_plugin(const char *file, struct err *err);

#endif
