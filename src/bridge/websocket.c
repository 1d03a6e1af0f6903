/* SPDX-License-Identifier: MIT */
#include "bridge/websocket.h"

#include "bridge/address.h"
#include "core/buf.h"
#include "core/err.h"

#include <fcntl.h>
#include <libwebsockets.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NAME "tunepipe"
#define READ_BYTES 65536
/* else libwebsockets makes room for all files that the process may open */
#define FDS_MAX 64

struct websocket {
    const struct websocket_handler *handler;
    void *arg; /* of the handler */
    struct lws_context *context;
    struct lws_vhost *vhost;
    /* The connection, or the attempt at one; others are dropped. */
    struct lws *wsi;
    bool calling, up;
    bool held;       /* nothing is received */
    bool leaving;    /* a close was asked for */
    unsigned code;   /* of the peer's close */
    struct buf text; /* what is sent is masked in place: a copy */
};

static const lws_retry_bo_t no_pings = {.secs_since_valid_ping = 0};

static void
forget(struct websocket *ws)
{
    ws->wsi = NULL;
    ws->calling = ws->up = ws->held = ws->leaving = false;
    ws->code = 0;
}

static void
failed(struct websocket *ws, const char *why, size_t len)
{
    char text[256];

    len = len < sizeof text - 1 ? len : sizeof text - 1;
    memcpy(text, why, len);
    text[len] = '\0';
    forget(ws);
    ws->handler->failed(ws->arg, text);
}

static void
closed(struct websocket *ws)
{
    unsigned code = ws->code;

    forget(ws);
    ws->handler->closed(ws->arg, code);
}

static void
received(struct websocket *ws, const void *data, size_t len)
{
    bool last = lws_is_final_fragment(ws->wsi) &&
                lws_remaining_packet_payload(ws->wsi) == 0;

    ws->handler->part(ws->arg, data, len, last);
}

static void
note_close(struct websocket *ws, const unsigned char *data, size_t len)
{
    ws->code = len < 2 ? 0 : (unsigned)data[0] << 8 | data[1];
}

static int
of_connection(struct websocket *ws, enum lws_callback_reasons reason, void *in,
              size_t len)
{
    static const char unknown[] = "no answer";

    switch ((int)reason) {
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        if (in == NULL || len == 0)
            failed(ws, unknown, sizeof unknown - 1);
        else
            failed(ws, in, len);
        break;
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        ws->calling = false;
        ws->up = true;
        ws->handler->up(ws->arg);
        break;
    case LWS_CALLBACK_CLIENT_RECEIVE:
        received(ws, in, len);
        break;
    case LWS_CALLBACK_CLIENT_RECEIVE_PONG:
        ws->handler->pong(ws->arg);
        break;
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        ws->handler->writable(ws->arg);
        return ws->leaving ? -1 : 0;
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        note_close(ws, in, len);
        break;
    case LWS_CALLBACK_CLIENT_CLOSED:
        closed(ws);
        break;
    }
    return 0;
}

static int
callback(struct lws *wsi, enum lws_callback_reasons reason, void *user,
         void *in, size_t len)
{
    struct lws_context *context = lws_get_context(wsi);
    struct websocket *ws = context == NULL ? NULL : lws_context_user(context);

    (void)user;
    /* the watched descriptor does no more than end the service */
    if (ws == NULL || ws->wsi == NULL || wsi != ws->wsi)
        return 0;
    return of_connection(ws, reason, in, len);
}

static const struct lws_protocols protocols[] = {
    {.name = NAME, .callback = callback, .rx_buffer_size = READ_BYTES},
    {.name = NULL},
};

/* Opens a context of libwebsockets; err is borrowed; frees nothing. */
static int
open_context(struct websocket *ws, int watched, struct err *err)
{
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .protocols = protocols,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
        .fd_limit_per_thread = FDS_MAX,
        .pt_serv_buf_size = READ_BYTES,
        .retry_and_idle_policy = &no_pings,
        .user = ws,
    };
    lws_sock_file_fd_type fd = {.filefd = fcntl(watched, F_DUPFD_CLOEXEC, 0)};

    lws_set_log_level(0, NULL);
    /* libwebsockets would take a proxy from there */
    unsetenv("http_proxy");
    ws->context = lws_create_context(&info);
    ws->vhost = ws->context == NULL
                    ? NULL
                    : lws_get_vhost_by_name(ws->context, "default");
    if (ws->vhost == NULL || fd.filefd < 0 ||
        lws_adopt_descriptor_vhost(ws->vhost, LWS_ADOPT_RAW_FILE_DESC, fd, NAME,
                                   NULL) == NULL)
        return err_set(err, ERR_SYSTEM, "libwebsockets %s does not start",
                       lws_get_library_version());
    return 0;
}

struct websocket *
websocket_new(const struct websocket_handler *handler, void *arg, int watched,
              struct err *err)
{
    struct websocket *ws = calloc(1, sizeof *ws);

    if (ws == NULL) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    ws->handler = handler;
    ws->arg = arg;
    buf_init(&ws->text, SIZE_MAX / 4);
    if (open_context(ws, watched, err) == 0)
        return ws;
    websocket_free(ws);
    return NULL;
}

void
websocket_free(struct websocket *ws)
{
    if (ws == NULL)
        return;
    forget(ws);
    if (ws->context != NULL)
        lws_context_destroy(ws->context);
    buf_fini(&ws->text);
    free(ws);
}

void
websocket_call(struct websocket *ws, const struct address *a, const char *host)
{
    struct lws_client_connect_info info = {
        .context = ws->context,
        .vhost = ws->vhost,
        .address = host,
        .port = atoi(a->port),
        .path = a->path,
        .host = a->name,
        .local_protocol_name = NAME,
        .retry_and_idle_policy = &no_pings,
        .pwsi = &ws->wsi,
    };
    static const char refused[] = "cannot connect";

    /* it may have reported its failure already */
    ws->calling = true;
    if (lws_client_connect_via_info(&info) == NULL && ws->calling)
        failed(ws, refused, sizeof refused - 1);
}

void
websocket_drop(struct websocket *ws)
{
    struct lws *wsi = ws->wsi;

    forget(ws);
    if (wsi != NULL)
        lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
}

int
websocket_socket(const struct websocket *ws)
{
    return ws->up ? lws_get_socket_fd(ws->wsi) : -1;
}

int
websocket_service(struct websocket *ws, struct err *err)
{
    if (lws_service(ws->context, 0) < 0)
        return err_set(err, ERR_SYSTEM, "libwebsockets has stopped");
    return 0;
}

void
websocket_hold(struct websocket *ws, bool hold)
{
    if (!ws->up || hold == ws->held)
        return;
    ws->held = hold;
    lws_rx_flow_control(ws->wsi, !hold);
}

void
websocket_want(struct websocket *ws)
{
    if (ws->up)
        lws_callback_on_writable(ws->wsi);
}

static int
write_copy(struct websocket *ws, const char *text, size_t len,
           enum lws_write_protocol as)
{
    static const char room[LWS_PRE];
    int n;

    buf_clear(&ws->text);
    buf_add(&ws->text, room, sizeof room);
    buf_add(&ws->text, text, len);
    if (ws->text.failed)
        return -1;
    n = lws_write(ws->wsi, (unsigned char *)ws->text.data + sizeof room, len,
                  as);
    if (ws->text.cap > READ_BYTES)
        buf_fini(&ws->text);
    return n;
}

enum websocket_sent
websocket_send(struct websocket *ws, const char *text, size_t len)
{
    if (write_copy(ws, text, len, LWS_WRITE_TEXT) < 0) {
        /* else the service would try again without a pause */
        ws->leaving = true;
        return WEBSOCKET_FAILED;
    }
    return lws_partial_buffered(ws->wsi) ? WEBSOCKET_BEGUN : WEBSOCKET_SENT;
}

void
websocket_ping(struct websocket *ws)
{
    write_copy(ws, "", 0, LWS_WRITE_PING);
}

void
websocket_pong(struct websocket *ws)
{
    write_copy(ws, "", 0, LWS_WRITE_PONG);
}

void
websocket_close(struct websocket *ws, unsigned code)
{
    lws_close_reason(ws->wsi, (enum lws_close_status)code, NULL, 0);
    ws->leaving = true;
}
