/* SPDX-License-Identifier: MIT */
/* overrides.h - keys of an experiment that options of `tunepipe run` give in
 * place of its file.  They are kept as JSON, from the option's name to its
 * value as text: {"max-trials": "20"}.  Any thread. */
#ifndef CONFIG_OVERRIDES_H
#define CONFIG_OVERRIDES_H

struct buf;
struct err;
struct reader;
struct yaml_node;

#define OVERRIDES 5

/* The options' names, without dashes. */
extern const char *const override_options[OVERRIDES];

/* Writes the options' values as JSON, to be freed; NULL where an option was not
 * given.  The file of a plugin becomes absolute.  *out NULL: none is given. */
int overrides_write(const char *const values[OVERRIDES], char **out,
                    struct err *err);

/* Puts the values into the tree of the file, in version 2 of its keys, where
 * the keys' own checks find them: the place of a problem is then the option.  A
 * tuner takes no arguments over that were meant for another one, but the
 * direction. */
void overrides_put(struct reader *r, struct yaml_node *root, const char *json);

/* Appends them as the options that they were: "--seed 7 --max-trials 20". */
void overrides_show(const char *json, struct buf *out);

#endif
