/* SPDX-License-Identifier: MIT
 *
 * Opens and closes the server for `weft serve`: state (state.c), address and token (token.c), HTTP.
 * Requests are answered in the other files; waiting here only looks for an interruption
 * and for connections past their time.
 */
#include "base/clock.h"
#include "render/json/json.h"
#include "render/page/ui_bundle.h"
#include "serve/door.h"
#include "serve/serve.h"
#include "serve/state.h"
#include "serve/token.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- lines ----------------------------------------------------------------------------------- */

/* The connections that have one of the server's places: how long each may take, and which one has
 * to go when all places are taken and another connection asks. Any thread may call. A list under
 * one lock. When all places are taken, connections without the token end first, then those nearest
 * to their deadline; a connection younger than YOUNG_NS is spared, since its first request may be
 * on its way. */

/* How long a connection may take to send a request (the first: what is left of it), and to read an
 * answer. */
#define WEFT_LINE_FIRST_NS UINT64_C(2000000000)
#define WEFT_LINE_REQUEST_NS UINT64_C(20000000000)
#define WEFT_LINE_RESPONSE_NS UINT64_C(60000000000)
#define WEFT_LINE_COMPUTING UINT64_MAX /* as long as it takes */

struct weft_line;

struct weft_lines {
    pthread_mutex_t lock;
    struct weft_line *first;
    size_t n, n_max;
};

enum { ENDING_MAX = 16 };

#define YOUNG_NS UINT64_C(250000000)

struct weft_line {
    struct weft_line *next, **self; /* list */
    int fd;
    bool has_begun;       /* the library has it: until then the number may be of a closed socket */
    bool has_token;       /* gave it in an earlier request */
    uint64_t young_ns;    /* until then its first request may not have been looked at */
    uint64_t deadline_ns; /* WEFT_LINE_COMPUTING; 0: is ended already */
};

static void weft_lines_init(struct weft_lines *lines, size_t n_max)
{
    *lines = (struct weft_lines){ .n_max = n_max };
    pthread_mutex_init(&lines->lock, NULL);
}

static void drop(struct weft_lines *lines, struct weft_line *line)
{
    lines->n--;
    *line->self = line->next;
    if (line->next)
        line->next->self = line->self;
    free(line);
}

static void weft_lines_fini(struct weft_lines *lines)
{
    while (lines->first)
        drop(lines, lines->first);
    pthread_mutex_destroy(&lines->lock);
}

static struct weft_line *add(struct weft_lines *lines, int fd)
{
    struct weft_line *line = calloc(1, sizeof *line);
    if (!line)
        return NULL;
    const uint64_t now_ns = weft_clock_now_ns();
    *line = (struct weft_line){ .next = lines->first,
                                .self = &lines->first,
                                .fd = fd,
                                .young_ns = now_ns + YOUNG_NS,
                                .deadline_ns = now_ns + WEFT_LINE_FIRST_NS };
    if (line->next)
        line->next->self = &line->next;
    lines->first = line;
    lines->n++;
    return line;
}

/* What was taken for a socket and has not begun, or NULL. */
static struct weft_line *find_taken(const struct weft_lines *lines, int fd)
{
    struct weft_line *line = lines->first;
    while (line && (line->has_begun || line->fd != fd))
        line = line->next;
    return line;
}

/* Ends one connection: without the token first, then the one that is nearest to its end. Few at
 * a time: it takes a moment until a place is free. */
static void make_room(const struct weft_lines *lines)
{
    const uint64_t now_ns = weft_clock_now_ns();
    struct weft_line *worst = NULL;
    unsigned n_ending = 0;
    for (struct weft_line *line = lines->first; line; line = line->next) {
        n_ending += line->deadline_ns == 0;
        if (line->deadline_ns == 0)
            continue;
        const bool is_young = !line->has_token && line->young_ns > now_ns;
        if (!line->has_begun || is_young || line->deadline_ns == WEFT_LINE_COMPUTING)
            continue;
        if (!worst ||
            (line->has_token != worst->has_token ? !line->has_token
                                                 : line->deadline_ns < worst->deadline_ns))
            worst = line;
    }
    if (!worst || n_ending >= ENDING_MAX)
        return;
    worst->deadline_ns = 0;
    (void)shutdown(worst->fd, SHUT_RDWR); /* its thread sees that and closes it */
}

/* Takes a place for the socket `fd`, which is then handed to the library. False if there is none:
 * a connection that is slow or asks nothing is ended, and soon there is one. */
static bool weft_lines_take(struct weft_lines *lines, int fd)
{
    pthread_mutex_lock(&lines->lock);
    struct weft_line *old = find_taken(lines, fd); /* the library closed it without a word */
    if (old)
        drop(lines, old);
    const bool has_room = lines->n < lines->n_max;
    const bool is_taken = has_room && add(lines, fd);
    if (!has_room)
        make_room(lines);
    pthread_mutex_unlock(&lines->lock);
    return is_taken;
}

/* The library begins with a socket: its place; NULL without memory. It ends before the socket is
 * closed. NULL is allowed from here on. */
static struct weft_line *weft_lines_begin(struct weft_lines *lines, int fd)
{
    pthread_mutex_lock(&lines->lock);
    struct weft_line *line = find_taken(lines, fd);
    if (!line)
        line = add(lines, fd);
    if (line)
        line->has_begun = true;
    pthread_mutex_unlock(&lines->lock);
    return line;
}

static void weft_lines_end(struct weft_lines *lines, struct weft_line *line)
{
    if (!line)
        return;
    pthread_mutex_lock(&lines->lock);
    drop(lines, line);
    pthread_mutex_unlock(&lines->lock);
}

/* The time from now on until the connection is ended. */
static void weft_lines_allow(struct weft_lines *lines, struct weft_line *line, uint64_t in_ns)
{
    if (!line)
        return;
    pthread_mutex_lock(&lines->lock);
    if (line->deadline_ns > 0)
        line->deadline_ns =
            in_ns == WEFT_LINE_COMPUTING ? WEFT_LINE_COMPUTING : weft_clock_now_ns() + in_ns;
    pthread_mutex_unlock(&lines->lock);
}

/* The connection has given the token: it is among the last that are ended for others. */
static void weft_lines_trust(struct weft_lines *lines, struct weft_line *line)
{
    if (!line)
        return;
    pthread_mutex_lock(&lines->lock);
    line->has_token = true;
    pthread_mutex_unlock(&lines->lock);
}

/* Ends connections that took too long. */
static void weft_lines_tidy(struct weft_lines *lines)
{
    const uint64_t now_ns = weft_clock_now_ns();
    pthread_mutex_lock(&lines->lock);
    for (struct weft_line *line = lines->first, *next; line; line = next) {
        next = line->next;
        if (line->deadline_ns >= now_ns)
            continue;
        if (line->has_begun)
            (void)shutdown(line->fd, SHUT_RDWR);
        else
            drop(lines, line);
    }
    pthread_mutex_unlock(&lines->lock);
}

/* ---- http ------------------------------------------------------------------------------------ */

/* HTTP: access, headers of every response, how long a connection may be silent. libmicrohttpd
 * reads requests and writes responses, one thread a connection; these threads only wait (jobs.h).
 * A connection gets to it when its first request is there (door.h). The library's own time-out
 * counts while an answer is computed, so it is off, and connections are watched here: when all
 * places are taken, one that is slow or asks nothing has to go for one that asks. */

struct weft_http;

enum {
    CONNECTIONS_MAX = 256,
    DAEMON_MAX = 4096, /* of the library, which stops for ever when it gets there */
    BACKLOG = 4096,
    STACK_BYTES = 256 * 1024,
    REQUEST_BYTES = 32 * 1024, /* the request line and the headers of a request */
};

struct weft_http {
    struct weft_serve_state *state;
    struct weft_token token;
    struct MHD_Daemon *daemon;
    struct weft_door *door;
    char hosts[3][32]; /* what a Host header may say */
    struct weft_lines lines;
};

/* A request. */
struct request {
    char target[WEFT_TARGET_BYTES];
    size_t n_bytes;
    bool is_too_long, is_begun;
};

/* ---- responses ------------------------------------------------------------------------------- */

static const char *const headers[][2] = {
    { "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
    { "X-Content-Type-Options", "nosniff" },
    { "Referrer-Policy", "no-referrer" },
    { "Cache-Control", "no-store" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
};

static enum MHD_Result respond(struct MHD_Connection *connection, int status, const char *type,
                               struct MHD_Response *response)
{
    if (!response)
        return MHD_NO;
    bool is_ok = true;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        is_ok = MHD_add_response_header(response, headers[i][0], headers[i][1]) && is_ok;
    if (type)
        is_ok = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) && is_ok;
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        is_ok = MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD") && is_ok;
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        is_ok = MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1") && is_ok;
    enum MHD_Result result =
        is_ok ? MHD_queue_response(connection, (unsigned)status, response) : MHD_NO;
    MHD_destroy_response(response);
    return result;
}

/* Bytes that outlive every response. */
static enum MHD_Result respond_static(struct MHD_Connection *connection, int status,
                                      const char *type, struct weft_str body)
{
    return respond(connection, status, type,
                   MHD_create_response_from_buffer(body.n_bytes, (void *)(uintptr_t)body.bytes,
                                                   MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result respond_empty(struct MHD_Connection *connection, int status)
{
    return respond_static(connection, status, NULL, WEFT_STR(""));
}

/* Without a word, and then the connection ends. */
static enum MHD_Result turn_away(struct MHD_Connection *connection, int status)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    if (response && !MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close")) {
        MHD_destroy_response(response);
        response = NULL;
    }
    return respond(connection, status, NULL, response);
}

/* {"error": {code, message}} */
static enum MHD_Result respond_error(struct MHD_Connection *connection, int status,
                                     const struct weft_err *err)
{
    char text[WEFT_ERR_FILE_BYTES + WEFT_ERR_TEXT_BYTES + WEFT_ERR_PLACE_BYTES + 64];
    struct weft_output *out = NULL;
    struct weft_json *json = NULL;
    struct MHD_Response *response = NULL;
    weft_err_print(err, text, sizeof text);
    if (weft_output_to_memory(&out, NULL) == WEFT_OK &&
        weft_json_open(out, &json, NULL) == WEFT_OK) {
        weft_json_begin_object(json, NULL);
        weft_json_begin_object(json, "error");
        weft_json_text(json, "code", weft_code_name(err->code));
        weft_json_text(json, "message", text);
        weft_json_end_object(json);
        weft_json_end_object(json);
        weft_json_close(json);
        weft_output_set_form(out, WEFT_OUTPUT_JSON);
        weft_output_seal(out);
        struct weft_str held = weft_output_held(out);
        response = MHD_create_response_from_buffer(held.n_bytes, (void *)(uintptr_t)held.bytes,
                                                   MHD_RESPMEM_MUST_COPY);
    }
    weft_output_abort(out);
    return respond(connection, status, weft_type_json, response);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* An answer's memory while it is sent. */
struct sent {
    struct weft_serve_state *state;
    struct weft_answer answer;
    uint64_t n_bytes;
};

static void free_sent(void *context)
{
    struct sent *sent = context;
    atomic_fetch_sub(&sent->state->answer_bytes, sent->n_bytes);
    weft_answer_fini(&sent->answer);
    free(sent);
}

static struct MHD_Response *response_of(struct weft_serve_state *state, struct weft_answer *answer)
{
    struct sent *sent = malloc(sizeof *sent);
    if (!sent) {
        weft_answer_fini(answer);
        return NULL;
    }
    struct weft_str body = weft_output_held(answer->body);
    *sent = (struct sent){ .state = state, .answer = *answer, .n_bytes = body.n_bytes };
    atomic_fetch_add(&state->answer_bytes, sent->n_bytes);
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        body.n_bytes, (void *)(uintptr_t)body.bytes, free_sent, sent);
    if (!response)
        free_sent(sent);
    return response;
}

static enum MHD_Result respond_answer(struct MHD_Connection *connection,
                                      struct weft_serve_state *state, struct weft_reply *reply)
{
    const struct weft_answer *answer = reply->kept ? reply->kept : &reply->answer;
    const char *type = answer->type;
    const bool is_gzip = answer->is_gzip;
    struct MHD_Response *response;
    if (reply->kept) {
        struct weft_str body = weft_output_held(answer->body);
        response = MHD_create_response_from_buffer(body.n_bytes, (void *)(uintptr_t)body.bytes,
                                                   MHD_RESPMEM_PERSISTENT);
    } else {
        response = response_of(state, &reply->answer);
    }
    if (response && is_gzip &&
        !MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip")) {
        MHD_destroy_response(response);
        response = NULL;
    }
    return respond(connection, reply->status, type, response);
}

static int socket_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static enum MHD_Result answer_api(struct weft_http *http, struct MHD_Connection *connection,
                                  const struct weft_target *target, struct weft_str name)
{
    struct weft_reply reply;
    if (atomic_load(&http->state->answer_bytes) > http->state->answer_bytes_max) {
        reply = (struct weft_reply){ .status = MHD_HTTP_SERVICE_UNAVAILABLE };
        (void)weft_fail(&reply.err, WEFT_E_CANCELLED, WEFT_NO_OFFSET,
                        "too many answers wait to be read: ask again later");
    } else {
        weft_state_answer(http->state, name, target->query, socket_of(connection), &reply);
    }
    if (reply.is_gone)
        return MHD_NO;
    return reply.status == MHD_HTTP_OK ? respond_answer(connection, http->state, &reply)
                                       : respond_error(connection, reply.status, &reply.err);
}

/* ---- the page -------------------------------------------------------------------------------- */

static const char page_html[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"generator\" content=\"weft " WEFT_VERSION "\">\n<title>weft</title>\n"
    "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"weft.css\">\n</head>\n"
    "<body>\n<div id=\"app\"></div>\n<noscript>This page needs JavaScript.</noscript>\n"
    "<script src=\"weft.js\"></script>\n</body>\n</html>\n";

static const char no_page_html[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>weft</title>\n"
    "</head>\n<body>\n<p>This weft was built without its user interface (tools/build builds it). "
    "Its data is under <code>api/</code>, see docs/http-api.md.</p>\n</body>\n</html>\n";

static bool find_file(struct weft_str path, const char **type, struct weft_str *body)
{
    const struct weft_ui_bundle *ui = &weft_ui_bundle;
    if (weft_str_equal(path, WEFT_STR("/"))) {
        *type = "text/html; charset=utf-8";
        *body = weft_str_of(ui->served_script_bytes ? page_html : no_page_html);
        return true;
    }
    if (weft_str_equal(path, WEFT_STR("/weft.js"))) {
        *type = "text/javascript; charset=utf-8";
        *body = (struct weft_str){ (const char *)ui->served_script, ui->served_script_bytes };
        return true;
    }
    *type = "text/css; charset=utf-8";
    *body = (struct weft_str){ (const char *)ui->served_style, ui->served_style_bytes };
    return weft_str_equal(path, WEFT_STR("/weft.css"));
}

static enum MHD_Result answer_path(struct weft_http *http, struct MHD_Connection *connection,
                                   const struct weft_target *target)
{
    static const char api[] = "/api/";
    const size_t n_api = sizeof api - 1;
    const char *type;
    struct weft_str body;
    if (target->path.n_bytes > n_api && memcmp(target->path.bytes, api, n_api) == 0)
        return answer_api(
            http, connection, target,
            (struct weft_str){ target->path.bytes + n_api, target->path.n_bytes - n_api });
    if (find_file(target->path, &type, &body))
        return respond_static(connection, MHD_HTTP_OK, type, body);
    return respond_empty(connection, MHD_HTTP_NOT_FOUND);
}

/* ---- access ---------------------------------------------------------------------------------- */

/* A page of another site that has its name point here (DNS rebinding) sends that name. */
static bool is_host_known(const struct weft_http *http, struct MHD_Connection *connection)
{
    const char *host =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    for (size_t i = 0; host && i < sizeof http->hosts / sizeof *http->hosts; i++)
        if (strcasecmp(host, http->hosts[i]) == 0)
            return true;
    return false;
}

/* Heads that two readers may understand in different ways: more than one host, a body that a
 * request for something does not have, its length given twice. */
struct doubts {
    unsigned n_hosts, n_lengths;
    bool has_coding, has_body;
};

static enum MHD_Result note_doubts(void *context, enum MHD_ValueKind kind, const char *key,
                                   const char *value)
{
    struct doubts *doubts = context;
    (void)kind;
    doubts->n_hosts += strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0;
    doubts->has_coding |= strcasecmp(key, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0;
    if (strcasecmp(key, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
        doubts->n_lengths++;
        doubts->has_body |= !value || strcmp(value, "0") != 0;
    }
    return MHD_YES;
}

static bool is_doubtful(struct MHD_Connection *connection)
{
    struct doubts doubts = { 0 };
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, note_doubts, &doubts);
    return doubts.n_hosts > 1 || doubts.n_lengths > 1 || doubts.has_coding || doubts.has_body;
}

static enum MHD_Result answer(struct weft_http *http, struct MHD_Connection *connection,
                              struct weft_line *line, const struct request *request)
{
    struct weft_target target;
    struct weft_err err = { 0 };
    if (!is_host_known(http, connection))
        return turn_away(connection, MHD_HTTP_FORBIDDEN);
    enum weft_code code =
        weft_target_split((struct weft_str){ request->target, request->n_bytes }, &target, &err);
    if (!weft_token_equals(&http->token, target.token))
        return turn_away(connection, MHD_HTTP_FORBIDDEN);
    weft_lines_trust(&http->lines, line);
    if (request->is_too_long || code == WEFT_E_LIMIT) {
        err = (struct weft_err){ 0 };
        (void)weft_fail(&err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "expected a query of at most %d bytes",
                        WEFT_QUERY_BYTES);
        return respond_error(connection, MHD_HTTP_URI_TOO_LONG, &err);
    }
    return answer_path(http, connection, &target);
}

/* ---- connections ----------------------------------------------------------------------------- */

static struct weft_line *line_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* The end is reported before the socket is closed, so that its number is not yet another's. */
static void on_connection(void *context, struct MHD_Connection *connection, void **line,
                          enum MHD_ConnectionNotificationCode code)
{
    struct weft_http *http = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *line = weft_lines_begin(&http->lines, socket_of(connection));
        return;
    }
    weft_lines_end(&http->lines, *line);
    *line = NULL;
}

/* Closes connections that were silent for too long. */
static void weft_http_tidy(struct weft_http *http)
{
    weft_lines_tidy(&http->lines);
}

/* The library closes what it cannot serve. */
static bool admit(void *context, int fd)
{
    struct weft_http *http = context;
    const struct sockaddr_in address = { .sin_family = AF_INET };
    if (!weft_lines_take(&http->lines, fd))
        return false;
    (void)MHD_add_connection(http->daemon, fd, (const struct sockaddr *)&address, sizeof address);
    return true;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* The target as it came: the library's own idea of paths and parameters is not used. */
static void *on_target(void *context, const char *target, struct MHD_Connection *connection)
{
    struct request *request = malloc(sizeof *request);
    (void)context;
    (void)connection;
    if (!request)
        return NULL;
    request->is_begun = false;
    request->n_bytes = strlen(target);
    request->is_too_long = request->n_bytes > sizeof request->target;
    if (request->is_too_long)
        request->n_bytes = sizeof request->target;
    memcpy(request->target, target, request->n_bytes);
    return request;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_bytes, void **request_ptr)
{
    struct weft_http *http = context;
    struct request *request = *request_ptr;
    (void)url;
    (void)version;
    (void)upload;
    (void)upload_bytes; /* none: bodies are refused */
    if (!request)
        return MHD_NO;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return request->is_begun ? MHD_NO : respond_empty(connection, MHD_HTTP_METHOD_NOT_ALLOWED);
    if (!request->is_begun) {
        request->is_begun = true; /* the library calls again when it has read all of it */
        return is_doubtful(connection) ? turn_away(connection, MHD_HTTP_BAD_REQUEST) : MHD_YES;
    }
    struct weft_line *line = line_of(connection);
    weft_lines_allow(&http->lines, line, WEFT_LINE_COMPUTING);
    enum MHD_Result result = answer(http, connection, line, request);
    weft_lines_allow(&http->lines, line, WEFT_LINE_RESPONSE_NS);
    return result;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **request,
                         enum MHD_RequestTerminationCode code)
{
    struct weft_http *http = context;
    (void)code;
    free(*request);
    *request = NULL;
    weft_lines_allow(&http->lines, line_of(connection), WEFT_LINE_REQUEST_NS);
}

/* The library has nothing to say to people. */
static void on_message(void *context, const char *format, va_list args)
{
    (void)context;
    (void)format;
    (void)args;
}

/* ---- the beginning and the end --------------------------------------------------------------- */

static enum weft_code fail_to_listen(int fd, uint16_t port, struct weft_err *err)
{
    const int cause = errno;
    if (fd >= 0)
        close(fd);
    return weft_fail_errno(err, cause, "cannot listen on port %" PRIu16 " of 127.0.0.1", port);
}

/* Listens on 127.0.0.1: on `port`, or on any if that is 0. WEFT_E_IO if it is taken. */
static enum weft_code weft_http_listen(uint16_t port, int *fd, uint16_t *bound,
                                       struct weft_err *err)
{
    const int on = 1;
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    socklen_t n_bytes = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0 || setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(*fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(*fd, BACKLOG) != 0 || getsockname(*fd, (struct sockaddr *)&address, &n_bytes) != 0)
        return fail_to_listen(*fd, port, err);
    *bound = ntohs(address.sin_port);
    return WEFT_OK;
}

/* Ends all connections and frees; NULL is allowed. Jobs must be stopped. */
static void weft_http_stop(struct weft_http *http)
{
    if (!http)
        return;
    weft_door_close(http->door);
    if (http->daemon)
        MHD_stop_daemon(http->daemon);
    weft_lines_fini(&http->lines);
    free(http);
}

/* Begins to answer on the listening socket `fd`, which it takes over, also when it fails. */
static enum weft_code weft_http_start(struct weft_serve_state *state,
                                      const struct weft_token *token, int fd, uint16_t port,
                                      struct weft_http **http, struct weft_err *err)
{
    static const char *const hosts[] = { "127.0.0.1", "localhost", "[::1]" };
    struct weft_http *made = calloc(1, sizeof *made);
    *http = NULL;
    if (!made) {
        close(fd);
        return weft_no_memory(err, "a server");
    }
    made->state = state;
    made->token = *token;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        snprintf(made->hosts[i], sizeof made->hosts[i], "%s:%" PRIu16, hosts[i], port);
    weft_lines_init(&made->lines, CONNECTIONS_MAX);
    made->daemon = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
            MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG,
        0, NULL, NULL, on_request, made, MHD_OPTION_EXTERNAL_LOGGER, on_message, NULL,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_CONNECTION_LIMIT, (unsigned)DAEMON_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES, MHD_OPTION_THREAD_STACK_SIZE,
        (size_t)STACK_BYTES, MHD_OPTION_URI_LOG_CALLBACK, on_target, made,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, made, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, made, MHD_OPTION_END);
    if (!made->daemon) {
        close(fd);
        weft_http_stop(made);
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "cannot start a server");
    }
    const enum weft_code code = weft_door_open(fd, REQUEST_BYTES, admit, made, &made->door, err);
    if (code != WEFT_OK) {
        weft_http_stop(made);
        return code;
    }
    *http = made;
    return WEFT_OK;
}

/* ---- server ---------------------------------------------------------------------------------- */

enum { TICK_MS = 200 };

struct weft_server {
    struct weft_serve_state state;
    struct weft_token token;
    struct weft_http *http;
    uint16_t port;
    char address[64];
};

/* The port and token left by an earlier server of these traces, if that port is free; else the port
 * asked for, and a new token, which is left for the next server unless another one lives that
 * looks there. */
static enum weft_code find_address(struct weft_server *server, const struct weft_serve_opts *opts,
                                   int *fd, struct weft_err *err)
{
    char *path = opts->state_folder
                     ? weft_token_path(opts->state_folder, opts->paths, opts->n_paths, opts->port)
                     : NULL;
    uint16_t port = 0;
    const bool is_left = path && weft_token_load(path, &server->token, &port);
    enum weft_code code = WEFT_OK;
    if (!is_left || weft_http_listen(port, fd, &server->port, NULL) != WEFT_OK) {
        code = weft_http_listen(opts->port, fd, &server->port, err);
        WEFT_THEN(code, weft_token_new(&server->token, err));
        if (code == WEFT_OK && path && !is_left)
            (void)weft_token_save(path, &server->token, server->port);
    }
    free(path);
    return code;
}

enum weft_code weft_server_open(const struct weft_serve_opts *opts, struct weft_server **server,
                                struct weft_err *err)
{
    struct weft_server *made = calloc(1, sizeof *made);
    int fd = -1;
    *server = NULL;
    if (!made)
        return weft_no_memory(err, "a server");
    enum weft_code code = weft_state_init(&made->state, opts, err);
    WEFT_THEN(code, find_address(made, opts, &fd, err));
    WEFT_THEN(code, weft_http_start(&made->state, &made->token, fd, made->port, &made->http, err));
    if (code != WEFT_OK) {
        weft_server_close(made);
        return code;
    }
    snprintf(made->address, sizeof made->address, "http://127.0.0.1:%" PRIu16 "/%s/", made->port,
             made->token.text);
    *server = made;
    return WEFT_OK;
}

const char *weft_server_address(const struct weft_server *server)
{
    return server->address;
}

const char *weft_server_recovered(const struct weft_server *server, size_t index)
{
    if (index >= server->state.n_traces)
        return NULL;
    const struct weft_served *served = &server->state.traces[index];
    return weft_trace_meta(weft_session_trace(served->session))->is_recovered ? served->path : NULL;
}

void weft_server_wait(struct weft_server *server, const struct weft_progress *progress)
{
    const struct timespec tick = { .tv_nsec = TICK_MS * 1000000L };
    while (!weft_progress_is_cancelled(progress)) {
        nanosleep(&tick, NULL);
        weft_http_tidy(server->http);
    }
}

void weft_server_close(struct weft_server *server)
{
    if (!server)
        return;
    if (server->state.jobs)
        weft_jobs_stop(server->state.jobs);
    weft_http_stop(server->http);
    weft_state_fini(&server->state);
    free(server);
}
