/* SPDX-License-Identifier: MIT */
/* page_parts.h - the files of page/ as bytes, made by scripts/gen-page when
 * the program is built. */
#ifndef REPORT_PAGE_PARTS_H
#define REPORT_PAGE_PARTS_H

#include <stddef.h>

extern const unsigned char page_frame[];  /* page.html */
extern const unsigned char page_style[];  /* page.css */
extern const unsigned char page_script[]; /* *.js, in the order of names */
extern const size_t page_frame_len, page_style_len, page_script_len;

#endif
