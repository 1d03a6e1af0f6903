/* SPDX-License-Identifier: MIT */
/* DESIGN.  A remote is down, is being started (`start` runs) or is up (the
 * client has a descriptor).  Down is where it begins, and where it ends when no
 * server can be had: all requests are then answered with the reason, and the
 * next one has a server started again.  A connection that is lost has one
 * started at once where requests are unanswered; these are sent again.  An
 * answer may be lost with it: so trials that were given to us unheard are given
 * back first. */
#include "client/remote.h"

#include "core/err.h"
#include "core/file.h"
#include "core/grow.h"
#include "core/number.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define OUT_MAX ((size_t)256 << 20)
#define DEATHS_MAX 20
#define DYING_MS 200
#define EVENTS 2
#define ADDED_MAX 128 /* bytes of a request that write_request() adds */
#define NONE UINT64_MAX

enum { TAG_START, TAG_SERVER };

/* Commands that are more to us than a line and its answer; those from TELL to
 * SAVED are about a trial that runs. */
enum kind { ASK, TELL, REPORT, LOOK, SAVED, RELEASE, LEAVE, ADD, OTHER };

static const char *const names[] = {
    [ASK] = "ask",   [TELL] = "tell",   [REPORT] = "report",
    [LOOK] = "look", [SAVED] = "saved", [RELEASE] = "release",
    [ADD] = "add",   [LEAVE] = "leave",
};

struct remote_request {
    struct remote_request *next;
    uint64_t id;
    struct json *doc; /* as it came */
    enum kind kind;
    bool sent;        /* perhaps */
    uint64_t attempt; /* that we have of its trial; NONE */
    char tag[17];     /* of what is added */
};

struct remote_wait {
    uint64_t id;
    bool done;
    struct json *doc;
    struct jval value; /* in doc */
    struct err err;    /* where there is none */
};

static bool
is_up(const struct remote *s)
{
    return s->client.fd >= 0;
}

static void
free_request(struct remote_request *r)
{
    if (r != NULL)
        json_free(r->doc);
    free(r);
}

/* ---- the trials that it has ---- */

/* Of a trial also as its id; NONE: there is none. */
static uint64_t
number_of(struct jval object, const char *key)
{
    uint64_t n = NONE;
    const char *text;
    struct jval v;
    size_t len;

    if (jval_get(object, key, &v) && !jval_uint(v, &n) &&
        !(jval_string(v, &text, &len) && number_parse_u64(text, len, &n)))
        return NONE;
    return n;
}

static bool
is_set(struct jval object, const char *key)
{
    bool set = false;
    struct jval v;

    return jval_get(object, key, &v) && jval_bool(v, &set) && set;
}

static struct remote_trial *
find_held(const struct remote *s, uint64_t number)
{
    for (size_t i = 0; i < s->n_held; i++)
        if (s->held[i].number == number)
            return &s->held[i];
    return NULL;
}

/* One that memory is wanting for is given back when the server dies. */
static void
hold(struct remote *s, uint64_t number, uint64_t attempt)
{
    struct remote_trial *t = find_held(s, number);

    if (t == NULL && number != NONE &&
        GROW(s->held, s->n_held, s->held_cap) == 0)
        t = &s->held[s->n_held++];
    if (t != NULL)
        *t = (struct remote_trial){number, attempt};
}

static void
let_go(struct remote *s, struct jval release)
{
    struct jval some, but = {NULL};
    bool all = !jval_get(release, "trials", &some);
    size_t n = 0;

    jval_get(release, "but", &but);
    for (size_t i = 0; i < s->n_held; i++)
        if (!(all || jval_has_uint(some, s->held[i].number)) ||
            jval_has_uint(but, s->held[i].number))
            s->held[n++] = s->held[i];
    s->n_held = n;
}

/* What an answer says of whose trials are. */
static void
note_answer(struct remote *s, const struct remote_request *r,
            const struct remote_answer *a)
{
    struct jval request = json_root(r->doc);
    bool done = a->err == NULL;
    struct remote_trial *t;

    if (r->kind == ASK && done && !is_set(request, "detached"))
        hold(s, number_of(a->value, "trial"), number_of(a->value, "attempt"));
    else if ((r->kind == RELEASE || r->kind == LEAVE) && done)
        let_go(s, request);
    else if (r->kind == TELL && (done || a->gone) &&
             (t = find_held(s, number_of(request, "trial"))) != NULL)
        *t = s->held[--s->n_held];
}

/* ---- answers ---- */

/* Takes a request out of the list; NULL: there is none such. */
static struct remote_request *
take_request(struct remote *s, uint64_t id)
{
    struct remote_request **at = &s->first, *r;

    while (*at != NULL && (*at)->id != id)
        at = &(*at)->next;
    r = *at;
    if (r == NULL)
        return NULL;
    *at = r->next;
    if (*at == NULL)
        s->last = at;
    return r;
}

/* Ends a request, unless nobody waits for it; the answer's document is taken.
 */
static void
tell_answer(struct remote *s, struct remote_answer *a)
{
    struct remote_request *r = take_request(s, a->id);
    struct remote_wait *w = s->wait;

    if (r != NULL)
        note_answer(s, r, a);
    if (r != NULL && (w == NULL || w->id != a->id)) {
        s->hear(s->ctx, a);
    } else if (r != NULL) {
        w->done = true;
        if (a->err != NULL)
            w->err = *a->err;
        else
            w->doc = a->doc, w->value = a->value, a->doc = NULL;
    }
    free_request(r);
    json_free(a->doc);
}

static void
refuse_all(struct remote *s, const struct err *why)
{
    while (s->first != NULL)
        tell_answer(s, &(struct remote_answer){.id = s->first->id, .err = why});
    buf_clear(&s->out);
}

static void
stop_asking(struct remote *s, const char *why)
{
    struct remote_request *r = s->first, *next;

    err_set(&s->stopped, ERR_INPUT, "%s", why);
    for (; r != NULL; r = next) {
        next = r->next;
        if (r->kind == ASK)
            tell_answer(
                s, &(struct remote_answer){.id = r->id, .err = &s->stopped});
    }
}

/* Takes the document. */
static void
take_answer(struct remote *s, struct json *doc)
{
    struct remote_answer a = {.doc = doc};
    struct jval root = json_root(doc), v;
    struct err why = {0};

    if (jval_get(root, "stopped", &v)) {
        stop_asking(s, jval_text_of(root, "error"));
        json_free(doc);
        return;
    }
    if (!jval_get(root, "answer", &a.value)) {
        err_set(&why, ERR_INPUT, "%s", jval_text_of(root, "error"));
        a.err = &why;
        a.over = is_set(root, "over");
        a.gone = is_set(root, "gone");
    }
    if (jval_get(root, "id", &v) && jval_uint(v, &a.id)) {
        tell_answer(s, &a);
    } else { /* it does not let us in */
        refuse_all(s, &why);
        json_free(doc);
    }
}

/* ---- requests ---- */

/* No other of this process's has this number as long as it lives. */
static uint64_t
own_number(const struct remote *s)
{
    return (uint64_t)(uintptr_t)s;
}

/* Of two members of the same name the caller's counts. */
static void
write_request(struct remote *s, struct remote_request *r)
{
    struct jval object = json_root(r->doc), v;
    struct json_writer w = json_begin_object(&s->out);
    struct jval_iter it = jval_iter(object);

    while (jval_next(&it))
        jval_write(it.value, json_value(&w, it.key));
    json_add_unsigned(&w, "id", r->id);
    if ((r->kind == ASK || r->kind == RELEASE || r->kind == LEAVE) &&
        !jval_get(object, "client", &v))
        json_add_unsigned(&w, "client", own_number(s));
    if (r->attempt != NONE)
        json_add_unsigned(&w, "attempt", r->attempt);
    if (r->tag[0] != '\0')
        json_add_text(&w, "tag", r->tag);
    if ((r->kind == TELL || r->kind == ADD) && r->sent &&
        !jval_get(object, "again", &v))
        json_add_bool(&w, "again", true);
    json_close(&w);
    buf_add_char(&s->out, '\n');
    r->sent = true;
    s->asked = s->asked || r->kind == ASK;
}

/* Gives back what we were given and have not heard of.  Its answer, of an id
 * that no request has, is awaited by nobody. */
static void
write_release(struct remote *s)
{
    struct json_writer w = json_begin_object(&s->out);

    json_add_text(&w, "command", names[RELEASE]);
    json_add_unsigned(&w, "id", 0);
    json_add_unsigned(&w, "client", own_number(s));
    json_open_array(&w, "but");
    for (size_t i = 0; i < s->n_held; i++)
        json_add_unsigned(&w, NULL, s->held[i].number);
    json_end(&w);
    buf_add_char(&s->out, '\n');
    if (s->out.len > CONTROL_LINE_MAX)
        buf_clear(&s->out); /* thousands are held: it stays undone */
}

static int
read_request(struct remote *s, struct remote_request *r, struct err *err)
{
    struct jval object = json_root(r->doc), v;
    const struct remote_trial *t;
    uint64_t tag;

    r->id = ++s->n_sent;
    r->attempt = NONE;
    while (r->kind < OTHER &&
           strcmp(names[r->kind], jval_text_of(object, "command")) != 0)
        r->kind++;
    t = find_held(s, number_of(object, "trial"));
    if (t != NULL && r->kind >= TELL && r->kind <= SAVED &&
        !jval_get(object, "attempt", &v))
        r->attempt = t->attempt;
    if (r->kind != ADD || jval_get(object, "tag", &v))
        return 0;
    if (getrandom(&tag, sizeof tag, 0) != (ssize_t)sizeof tag)
        return err_errno(err, ERR_SYSTEM, "no random number");
    snprintf(r->tag, sizeof r->tag, "%016llx", (unsigned long long)tag);
    return 0;
}

int
remote_send(struct remote *s, const char *object, uint64_t *id, struct err *err)
{
    size_t len = strlen(object), at = s->out.len;
    struct remote_request *r;

    if (len + ADDED_MAX > CONTROL_LINE_MAX)
        return err_set(err, ERR_INPUT,
                       "a request of %zu bytes: expected %d at most", len,
                       CONTROL_LINE_MAX - ADDED_MAX);
    r = calloc(1, sizeof *r);
    if (r == NULL)
        return err_set(err, ERR_MEMORY, "out of memory");
    r->doc = json_parse(object, len, JSON_UNIQUE, err);
    if (r->doc == NULL || read_request(s, r, err) != 0) {
        free_request(r);
        return -1;
    }
    if (r->kind == ASK && s->stopped.code != ERR_NONE) {
        free_request(r);
        return err_set(err, ERR_INPUT, "%s", s->stopped.text);
    }
    if (is_up(s))
        write_request(s, r);
    if (s->out.failed) {
        free_request(r);
        s->out.failed = false;
        s->out.len = at;
        return err_set(err, ERR_MEMORY, "out of memory");
    }
    *s->last = r;
    s->last = &r->next;
    *id = r->id;
    return 0;
}

void
remote_forget(struct remote *s, uint64_t id)
{
    free_request(take_request(s, id));
}

/* ---- the server ---- */

static int
watch(struct remote *s, int fd, uint32_t tag, struct err *err)
{
    struct epoll_event e = {.events = EPOLLIN, .data = {.u32 = tag}};

    s->events = EPOLLIN;
    if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e) != 0)
        return err_errno(err, ERR_SYSTEM, "epoll");
    return 0;
}

/* Connects, and says once more what is unanswered. */
static int
go_up(struct remote *s, struct err *err)
{
    if (control_client_open(&s->client, s->folder, err) != 0)
        return -1;
    if (watch(s, s->client.fd, TAG_SERVER, err) != 0) {
        control_client_close(&s->client);
        return -1;
    }
    buf_clear(&s->out);
    if (s->asked)
        write_release(s);
    for (struct remote_request *r = s->first; r != NULL; r = r->next)
        write_request(s, r);
    return 0;
}

static int
start_watched(struct remote *s, struct err *err)
{
    if (start_begin(&s->start, s->folder, NULL, err) != 0)
        return -1;
    if (watch(s, s->start.pidfd, TAG_START, err) == 0)
        return 0;
    start_drop(&s->start, true);
    return -1;
}

/* Where a request is unanswered and no server there, has one started. */
static void
need_server(struct remote *s)
{
    struct err err = {0};
    int rc = -1;

    if (s->first == NULL || is_up(s) || s->start.pidfd >= 0)
        return;
    if (s->closing)
        err_set(&err, ERR_SYSTEM, "%s: the server has ended", s->folder);
    else if (s->n_deaths > DEATHS_MAX)
        err_set(&err, ERR_SYSTEM,
                "%s: its server has ended %u times without an answer: see "
                "server.log there",
                s->folder, s->n_deaths);
    else
        rc = start_watched(s, &err);
    if (rc == 0)
        return;
    s->n_deaths = 0;
    refuse_all(s, &err);
}

/* One that has been killed can still be connected to for a moment. */
static void
lose_server(struct remote *s)
{
    struct pollfd end = {.fd = s->client.manager_fd, .events = POLLIN};

    poll(&end, 1, DYING_MS);
    control_client_close(&s->client);
    s->n_deaths++;
}

static void
hear_start(struct remote *s)
{
    struct err err = {0};

    if (start_end(&s->start, &err) != 0)
        refuse_all(s, &err);
    else if (go_up(s, &err) != 0)
        s->n_deaths++;
}

static void
hear_server(struct remote *s)
{
    struct err err = {0};
    struct json *doc;
    bool lost = control_client_fill(&s->client, &err) < 0;
    int rc;

    while ((rc = control_client_line(&s->client, &doc, &err)) > 0) {
        s->n_deaths = 0;
        take_answer(s, doc);
    }
    if (lost || rc < 0)
        lose_server(s);
}

/* What cannot be sent now waits; why it never can be, reading tells. */
static void
write_out(struct remote *s)
{
    struct epoll_event e = {.data = {.u32 = TAG_SERVER}};

    while (is_up(s) && s->out.len > 0) {
        ssize_t n = send(s->client.fd, s->out.data, s->out.len,
                         MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            buf_clear(&s->out);
        if (n < 0)
            break;
        buf_consume(&s->out, (size_t)n);
    }
    e.events = EPOLLIN | (s->out.len > 0 ? (uint32_t)EPOLLOUT : 0);
    if (is_up(s) && e.events != s->events &&
        epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, s->client.fd, &e) == 0)
        s->events = e.events;
}

int
remote_turn(struct remote *s, bool wait, struct err *err)
{
    struct epoll_event events[EVENTS];
    int n;

    need_server(s);
    write_out(s);
    n = epoll_wait(s->epoll_fd, events, EVENTS,
                   wait && s->first != NULL ? CONTROL_LOOK_MS : 0);
    if (n < 0 && errno != EINTR)
        return err_errno(err, ERR_SYSTEM, "epoll");
    for (int i = 0; i < n; i++)
        if (events[i].data.u32 == TAG_START)
            hear_start(s);
        else if (events[i].events & ~(uint32_t)EPOLLOUT)
            hear_server(s);
    need_server(s);
    write_out(s);
    if (n == 0 && wait && is_up(s) && control_client_is_stopped(&s->client))
        return control_client_tell_stopped(&s->client, err);
    return 0;
}

int
remote_ask(struct remote *s, const char *object, struct json **out,
           struct jval *answer, struct err *err)
{
    struct remote_wait w = {.done = false};
    int rc = remote_send(s, object, &w.id, err);

    *out = NULL;
    if (rc != 0)
        return -1;
    s->wait = &w;
    while (rc == 0 && !w.done)
        rc = remote_turn(s, true, err);
    s->wait = NULL;
    if (!w.done)
        remote_forget(s, w.id);
    if (w.done && w.doc == NULL && err != NULL)
        *err = w.err;
    *out = w.doc;
    *answer = w.value;
    return w.doc == NULL ? -1 : 0;
}

/* ---- its life ---- */

/* The folder's path wherever this process goes. */
static char *
absolute(const char *folder)
{
    char *here, *path;

    if (folder[0] == '/')
        return strdup(folder);
    here = getcwd(NULL, 0);
    path = here == NULL ? NULL : file_join(here, folder);
    free(here);
    return path;
}

static int
first_server(struct remote *s, const char *config, struct err *err)
{
    if (config == NULL && go_up(s, NULL) == 0)
        return 0;
    for (;;) {
        if (start_begin(&s->start, s->folder, config, err) != 0 ||
            start_end(&s->start, err) != 0)
            return -1;
        if (go_up(s, err) == 0)
            return 0;
        if (++s->n_deaths > DEATHS_MAX)
            return -1;
    }
}

int
remote_open(struct remote *s, const char *folder, const char *config,
            remote_hear *hear, void *ctx, struct err *err)
{
    int rc = -1;

    *s = (struct remote){.folder = absolute(folder),
                         .hear = hear,
                         .ctx = ctx,
                         .epoll_fd = epoll_create1(EPOLL_CLOEXEC),
                         .start = START_NONE,
                         .client = {.fd = -1, .manager_fd = -1}};
    s->last = &s->first;
    buf_init(&s->out, OUT_MAX);
    if (s->folder == NULL || s->epoll_fd < 0)
        err_errno(err, ERR_SYSTEM, "%s", folder);
    else
        rc = first_server(s, config, err);
    if (rc != 0)
        remote_close(s, false);
    return rc;
}

/* Leaves the server; if the remote has trials, also the next one, should this
 * one die. */
static void
leave_server(struct remote *s, bool has_trials)
{
    struct buf request;
    struct json_writer w;
    struct json *doc = NULL;
    struct jval answer;

    buf_init(&request, CONTROL_LINE_MAX);
    w = json_begin_object(&request);
    json_add_text(&w, "command", names[LEAVE]);
    json_close(&w);
    s->closing = !has_trials;
    remote_ask(s, buf_text(&request), &doc, &answer, NULL);
    json_free(doc);
    buf_fini(&request);
}

void
remote_close(struct remote *s, bool leave)
{
    bool has_trials = s->n_held > 0;

    while (s->first != NULL) {
        has_trials = has_trials || s->first->kind == ASK;
        remote_forget(s, s->first->id);
    }
    start_drop(&s->start, leave);
    if (leave && (is_up(s) || has_trials))
        leave_server(s, has_trials);
    start_drop(&s->start, leave);
    control_client_close(&s->client);
    if (s->epoll_fd >= 0)
        close(s->epoll_fd);
    s->epoll_fd = -1;
    free(s->held);
    s->held = NULL;
    buf_fini(&s->out);
    free(s->folder);
    s->folder = NULL;
}
