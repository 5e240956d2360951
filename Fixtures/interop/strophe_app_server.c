// An app server with libstrophe 0.12: PORT SENDER. The first line of standard input is the key; each other line is the JSON of a
// message, or "drop", which aborts the connection and reconnects with the stream management state.
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strophe.h>
#include <sys/socket.h>
#include <unistd.h>

static xmpp_ctx_t *context;
static xmpp_conn_t *connection;
static int socket_of_connection = -1, is_connected, has_logged_in;
static char jid[128], key[512];
static unsigned short port;

// Reports the mechanism that the library chooses, which only its debug output contains.
static void note(void *data, xmpp_log_level_t level, const char *area, const char *text) {
    (void)data, (void)level, (void)area;
    const char *start = strstr(text, "mechanism=\"");
    if (strstr(text, "SENT: <auth") && start) {
        start += strlen("mechanism=\"");
        printf("{\"event\":\"mechanism\",\"name\":\"%.*s\"}\n", (int)strcspn(start, "\""), start);
    }
    if (strstr(text, "<resumed")) printf("{\"event\":\"resumed\"}\n");
    if (strstr(text, "<enabled")) printf("{\"event\":\"sm_enabled\"}\n");
    fprintf(stderr, "%s\n", text);
}

static int received(xmpp_conn_t *conn, xmpp_stanza_t *stanza, void *data) {
    (void)conn, (void)data;
    xmpp_stanza_t *gcm = xmpp_stanza_get_child_by_name(stanza, "gcm");
    for (xmpp_stanza_t *child = xmpp_stanza_get_children(stanza); !gcm && child; child = xmpp_stanza_get_next(child)) {
        const char *name = xmpp_stanza_get_name(child);
        if (name && strstr(name, ":gcm")) gcm = child;
    }
    char *text = gcm ? xmpp_stanza_get_text(gcm) : NULL;
    if (text) printf("{\"event\":\"message\",\"json\":%s}\n", text);
    if (text) xmpp_free(context, text);
    return 1;
}

static void changed(xmpp_conn_t *conn, xmpp_conn_event_t event, int error, xmpp_stream_error_t *stream_error, void *data) {
    (void)error, (void)stream_error, (void)data;
    if (event == XMPP_CONN_CONNECT) {
        is_connected = has_logged_in = 1;
        xmpp_handler_add(conn, received, NULL, "message", NULL, NULL);
        printf("{\"event\":\"connected\",\"jid\":\"%s\"}\n", xmpp_conn_get_bound_jid(conn));
    } else {
        printf("{\"event\":\"%s\"}\n", is_connected || has_logged_in ? "closed" : "refused");
        is_connected = 0;
    }
}

static int keep_socket(xmpp_conn_t *conn, void *sock) {
    (void)conn;
    socket_of_connection = *(int *)sock;
    return 0;
}

static void open_connection(xmpp_sm_state_t *state) {
    connection = xmpp_conn_new(context);
    xmpp_conn_set_flags(connection, XMPP_CONN_FLAG_LEGACY_SSL | XMPP_CONN_FLAG_TRUST_TLS);
    xmpp_conn_set_jid(connection, jid);
    xmpp_conn_set_pass(connection, key);
    xmpp_conn_set_sockopt_callback(connection, keep_socket);
    if (state) xmpp_conn_set_sm_state(connection, state);
    xmpp_connect_client(connection, "127.0.0.1", port, changed, NULL);
}

static void drop(void) {
    shutdown(socket_of_connection, SHUT_RDWR);
    while (is_connected) xmpp_run_once(context, 20);
    xmpp_sm_state_t *state = xmpp_conn_get_sm_state(connection);
    xmpp_conn_release(connection);
    open_connection(state);
}

static void submit(const char *json) {
    xmpp_stanza_t *message = xmpp_stanza_new(context), *gcm = xmpp_stanza_new(context), *text = xmpp_stanza_new(context);
    xmpp_stanza_set_name(message, "message");
    xmpp_stanza_set_id(message, "");
    xmpp_stanza_set_name(gcm, "gcm");
    xmpp_stanza_set_ns(gcm, "google:mobile:data");
    xmpp_stanza_set_text(text, json);
    xmpp_stanza_add_child(gcm, text);
    xmpp_stanza_add_child(message, gcm);
    xmpp_send(connection, message);
    xmpp_stanza_release(text);
    xmpp_stanza_release(gcm);
    xmpp_stanza_release(message);
}

int main(int count, char **arguments) {
    static char line[65536];
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    setvbuf(stdin, NULL, _IONBF, 0);
    if (count < 3 || !fgets(key, sizeof key, stdin)) return 64;
    key[strcspn(key, "\n")] = 0;
    port = (unsigned short)atoi(arguments[1]);
    snprintf(jid, sizeof jid, "%s@gcm.googleapis.com", arguments[2]);
    xmpp_initialize();
    xmpp_log_t log = {note, NULL};
    context = xmpp_ctx_new(NULL, &log);
    open_connection(NULL);
    for (;;) {
        xmpp_run_once(context, 20);
        struct pollfd input = {0, POLLIN, 0};
        if (poll(&input, 1, 0) <= 0) continue;
        if (!fgets(line, sizeof line, stdin)) break;
        line[strcspn(line, "\n")] = 0;
        if (strcmp(line, "drop") == 0) drop(); else submit(line);
    }
    xmpp_disconnect(connection);
    for (int turns = 0; is_connected && turns < 100; turns++) xmpp_run_once(context, 20);
    return 0;
}
