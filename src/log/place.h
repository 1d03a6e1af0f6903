/* SPDX-License-Identifier: MIT */
/* place.h - where the log of an experiment's folder lies; for those who know
 * the log a part of log.h.  Any thread. */
#ifndef LOG_PLACE_H
#define LOG_PLACE_H

struct err;

/* The folder in which the log of an experiment's folder lies, whether there is
 * one or not, to be freed: that folder itself or, where commandLogDirectory was
 * given, one elsewhere, such as on a disk of the machine.  NULL: err
 * (ERR_LOG) tells; where it cannot be reached from here: on which machine it
 * was, and what can be done without it. */
char *log_place(const char *folder, struct err *err);
/* Makes a folder (0700) for the log of `folder` in `directory`, named as that
 * one, and keeps in either where the other is. */
int log_place_make(const char *folder, const char *directory, struct err *err);
/* Before a log is gone on with: -1 where its place is that of another folder,
 * of which this one is a copy.  A folder that was moved is recorded. */
int log_place_claim(const char *folder, struct err *err);
/* Removes what log_place_make() has made, with the log that lies there. */
void log_place_remove(const char *folder);

#endif
