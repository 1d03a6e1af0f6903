/* SPDX-License-Identifier: MIT */
/* nni_registered.h - the Python classes that the user has given names by
 * `nnictl algo register`: NNI's registered_algorithms.yml. */
#ifndef CLI_NNI_REGISTERED_H
#define CLI_NNI_REGISTERED_H

struct log;

/* "module.Class", to be freed; NULL: there is no such file, or no such name in
 * it (case does not count), or the file makes no sense, of which the log has a
 * line.  `kind` is "tuner" or "assessor". */
char *nni_registered_class(const char *kind, const char *name,
                           const struct log *log);

#endif
