/* SPDX-License-Identifier: MIT */
/* list.h - a list of things that hold their own links, so that adding one
 * cannot fail and taking it out needs no search.  Zeroed ones are an empty list
 * and a link in none.  One thread; nothing here owns anything. */
#ifndef CORE_LIST_H
#define CORE_LIST_H

#include <stddef.h>

struct list;

struct link {
    void *of;        /* the thing that holds it */
    struct list *in; /* NULL: in no list */
    struct link *next, *previous;
};

struct list {
    struct link *first, *last;
};

/* Before that one; NULL: at the end. */
static inline void
list_add(struct list *l, struct link *behind, struct link *it, void *of)
{
    struct link *before = behind != NULL ? behind->previous : l->last;

    *it = (struct link){of, l, behind, before};
    *(before != NULL ? &before->next : &l->first) = it;
    *(behind != NULL ? &behind->previous : &l->last) = it;
}

/* Without effect on one that is in none. */
static inline void
list_remove(struct link *it)
{
    if (it->in == NULL)
        return;
    *(it->previous != NULL ? &it->previous->next : &it->in->first) = it->next;
    *(it->next != NULL ? &it->next->previous : &it->in->last) = it->previous;
    *it = (struct link){0};
}

#endif
