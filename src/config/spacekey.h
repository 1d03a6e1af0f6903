/* SPDX-License-Identifier: MIT */
/* spacekey.h - searchSpace or searchSpaceFile, as JSON, and the place that
 * errors in it name. */
#ifndef CONFIG_SPACEKEY_H
#define CONFIG_SPACEKEY_H

struct draft;
struct reader;
struct yaml_node;

/* Fills search_space and space_place of the draft, from the file if that is
 * what is named.  What is wrong becomes a problem of the reader. */
void spacekey_check(struct reader *r, struct draft *d,
                    const struct yaml_node *root);

#endif
