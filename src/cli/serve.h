/* SPDX-License-Identifier: MIT */
/* serve.h - the server of a study: a manager (manager/study.h) that is a
 * daemon, one for each study, begun by whoever needs it first. */
#ifndef CLI_SERVE_H
#define CLI_SERVE_H

#include <stdbool.h>

/* Returns, with the exit status, when a server of the study in `folder` can be
 * asked, be it one that was there; what is wrong is told as by `verb`.  A
 * folder that is not there, or empty, becomes a study by `config`, a file;
 * where there is a study it is only compared; NULL: none is given.  In the
 * foreground this process serves, and returns when it has ended. */
int serve(const char *verb, const char *folder, const char *config,
          bool foreground);

#endif
