/* SPDX-License-Identifier: MIT */
/* words.h - NNI's managers before --exp_params said the same in words:
 * --tuner_class_name TPE --tuner_args JSON --tuner_directory DIR
 * --tuner_class_filename FILE, likewise for assessor and advisor, and
 * --multi_thread.  Any thread. */
#ifndef NNI_WORDS_H
#define NNI_WORDS_H

struct buf;
struct err;

/* Appends the configuration that those words are, in NNI's first schema.  1;
 * 0: there is none of them, nothing is appended; -1: err tells (ERR_CONFIG).
 * Other words are passed over, of the same word the last counts. */
int words_write(int argc, char *const *argv, struct buf *out, struct err *err);

#endif
