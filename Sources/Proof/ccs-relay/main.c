// The baseline of ccs-bench: a minimal C program for the same load.
//
// One thread, epoll, OpenSSL on the socket, one expat push parser per app server, one output buffer per connection that
// is written once per turn. It reads stanzas, extracts `to` and `message_id` from the JSON, sends the payload to the device
// in an MCS frame, and replies with an ACK stanza. It checks nothing and stores nothing: no deadlines, no limits, no tokens,
// no lifetimes. Loopback only.
//
// usage: ccs-relay CERTIFICATE KEY [plain-reads|tickets]   prints "APP_SERVER_PORT DEVICE_PORT", then serves until it is killed
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <expat.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum kind { APP_SERVER_LISTENER, DEVICE_LISTENER, APP_SERVER, DEVICE };

struct buffer {
    char *bytes;
    size_t count, room;
};

struct connection {
    enum kind kind;
    int fd;
    SSL *ssl;
    int handshaken, dirty, blocked, dead;
    struct buffer out;
    // App servers: the parser, its depth, and the text of the current <gcm> element.
    XML_Parser parser;
    int depth, authenticated, restart, in_payload;
    char iq[128];
    struct buffer text;
    // Devices: the incomplete frame, and the number they logged in with.
    struct buffer in;
    int logged_in;
    unsigned long long name;
    struct connection *next_of_name;
};

enum { EVENTS = 512, READ_BYTES = 16384, NAMES = 1 << 16 };

static int epoll;
static SSL_CTX *context;
static struct connection *names[NAMES];
static struct connection **dirty;
static size_t dirty_count, dirty_room;

static void append(struct buffer *buffer, const void *bytes, size_t count) {
    if (buffer->count + count > buffer->room) {
        size_t room = buffer->room ? buffer->room : 512;
        while (room < buffer->count + count) room *= 2;
        buffer->bytes = realloc(buffer->bytes, room);
        if (!buffer->bytes) abort();
        buffer->room = room;
    }
    memcpy(buffer->bytes + buffer->count, bytes, count);
    buffer->count += count;
}

static void append_text(struct buffer *buffer, const char *text) { append(buffer, text, strlen(text)); }

static void release(struct buffer *buffer) {
    free(buffer->bytes);
    memset(buffer, 0, sizeof *buffer);
}

static void mark_dirty(struct connection *c) {
    if (c->dirty) return;
    c->dirty = 1;
    if (dirty_count == dirty_room) {
        dirty_room = dirty_room ? dirty_room * 2 : 1024;
        dirty = realloc(dirty, dirty_room * sizeof *dirty);
        if (!dirty) abort();
    }
    dirty[dirty_count++] = c;
}

// Finds the device with a number; devices are few and their numbers consecutive, so the table is a plain hash.
static struct connection **place_of(unsigned long long name) { return &names[name % NAMES]; }

static struct connection *device_named(unsigned long long name) {
    struct connection *found = *place_of(name);
    while (found && found->name != name) found = found->next_of_name;
    return found;
}

static void forget_device(struct connection *c) {
    struct connection **at = place_of(c->name);
    while (*at && *at != c) at = &(*at)->next_of_name;
    if (*at) *at = c->next_of_name;
}

static void flush_output(struct connection *c) {
    c->dirty = 0;
    if (!c->handshaken || c->dead) return;
    size_t sent = 0;
    while (sent < c->out.count) {
        size_t part = c->out.count - sent < 16384 ? c->out.count - sent : 16384;
        int result = SSL_write(c->ssl, c->out.bytes + sent, (int)part);
        if (result <= 0) {
            c->blocked = SSL_get_error(c->ssl, result) == SSL_ERROR_WANT_WRITE;
            if (!c->blocked) c->dead = 1;
            break;
        }
        sent += (size_t)result;
    }
    if (sent == c->out.count) {
        release(&c->out);
    } else {
        memmove(c->out.bytes, c->out.bytes + sent, c->out.count - sent);
        c->out.count -= sent;
    }
}

// Returns the string that follows a key in flat JSON; sufficient for the bench's own messages.
static const char *member(const struct buffer *json, const char *key, size_t key_length, size_t *length) {
    const char *at = memmem(json->bytes, json->count, key, key_length);
    if (!at) return NULL;
    at += key_length;
    const char *end = memchr(at, '"', (size_t)(json->bytes + json->count - at));
    *length = end ? (size_t)(end - at) : 0;
    return end ? at : NULL;
}

static size_t put_varint(unsigned char *to, size_t value) {
    size_t count = 0;
    while (value > 127) {
        to[count++] = (unsigned char)(value | 128);
        value >>= 7;
    }
    to[count++] = (unsigned char)value;
    return count;
}

static void message_ended(struct connection *c) {
    size_t to_length, id_length;
    const char *to = member(&c->text, "\"to\":\"", 6, &to_length);
    const char *id = member(&c->text, "\"message_id\":\"", 14, &id_length);
    if (!to || !id) return;
    struct connection *device = device_named(strtoull(to, NULL, 10));
    if (device) {
        // Tag 8 (DataMessageStanza), its length, and one field of bytes: field 21, raw_data.
        unsigned char head[24];
        unsigned char field[12] = {0xaa, 0x01};
        size_t field_count = 2 + put_varint(field + 2, c->text.count);
        head[0] = 8;
        size_t head_count = 1 + put_varint(head + 1, field_count + c->text.count);
        append(&device->out, head, head_count);
        append(&device->out, field, field_count);
        append(&device->out, c->text.bytes, c->text.count);
        mark_dirty(device);
    }
    append_text(&c->out, "<message><data:gcm xmlns:data=\"google:mobile:data\">{\"message_type\":\"");
    append_text(&c->out, device ? "ack" : "nack");
    append_text(&c->out, "\",\"from\":\"");
    append(&c->out, to, to_length);
    append_text(&c->out, "\",\"message_id\":\"");
    append(&c->out, id, id_length);
    append_text(&c->out, "\"}</data:gcm></message>");
    mark_dirty(c);
}

static int ends_with(const char *name, const char *end) {
    const char *local = strrchr(name, '|');
    return !strcmp(local ? local + 1 : name, end);
}

static void element_began(void *data, const XML_Char *name, const XML_Char **attributes) {
    struct connection *c = data;
    if (c->depth++ == 0) {
        append_text(&c->out,
                    "<stream:stream from=\"gcm.googleapis.com\" id=\"1\" version=\"1.0\" "
                    "xmlns:stream=\"http://etherx.jabber.org/streams\" xmlns=\"jabber:client\">");
        append_text(&c->out, c->authenticated
                                 ? "<stream:features><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"/></stream:features>"
                                 : "<stream:features><mechanisms xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\">"
                                   "<mechanism>PLAIN</mechanism></mechanisms></stream:features>");
        mark_dirty(c);
    } else if (ends_with(name, "gcm")) {
        c->in_payload = 1;
        c->text.count = 0;
    } else if (ends_with(name, "iq")) {
        for (; *attributes; attributes += 2)
            if (!strcmp(attributes[0], "id")) snprintf(c->iq, sizeof c->iq, "%s", attributes[1]);
    }
}

static void element_ended(void *data, const XML_Char *name) {
    struct connection *c = data;
    c->depth--;
    if (ends_with(name, "gcm")) c->in_payload = 0;
    if (c->depth != 1) return;
    if (ends_with(name, "message")) return message_ended(c);
    if (ends_with(name, "auth")) {
        append_text(&c->out, "<success xmlns=\"urn:ietf:params:xml:ns:xmpp-sasl\"/>");
        c->authenticated = c->restart = 1;
    } else if (ends_with(name, "iq")) {
        append_text(&c->out, "<iq type=\"result\" id=\"");
        append_text(&c->out, c->iq);
        append_text(&c->out, "\"><bind xmlns=\"urn:ietf:params:xml:ns:xmpp-bind\"><jid>a@b/c</jid></bind></iq>");
    }
    mark_dirty(c);
}

static void text_came(void *data, const XML_Char *text, int count) {
    struct connection *c = data;
    if (c->in_payload) append(&c->text, text, (size_t)count);
}

static void prepare_parser(struct connection *c) {
    XML_SetUserData(c->parser, c);
    XML_SetElementHandler(c->parser, element_began, element_ended);
    XML_SetCharacterDataHandler(c->parser, text_came);
}

static void app_server_received(struct connection *c, const char *bytes, int count) {
    if (XML_Parse(c->parser, bytes, count, 0) != XML_STATUS_OK) c->dead = 1;
    if (!c->restart) return;
    c->restart = c->depth = 0;
    XML_ParserReset(c->parser, NULL);
    prepare_parser(c);
}

// The bench logs devices in by one frame: version byte, tag 2, length, and a message whose field 3 is the number.
static void device_received(struct connection *c, const char *bytes, int count) {
    if (c->logged_in) return;
    append(&c->in, bytes, (size_t)count);
    size_t at = 2, length = 0;
    int shift = 0;
    while (at < c->in.count && shift < 28) {
        length |= (size_t)(c->in.bytes[at] & 127) << shift;
        shift += 7;
        if (!(c->in.bytes[at++] & 128)) break;
    }
    if (c->in.count < 3 || c->in.count < at + length) return;
    for (size_t end = at + length; at + 1 < end; at += 2 + (unsigned char)c->in.bytes[at + 1]) {
        if (c->in.bytes[at] != (3 << 3 | 2)) continue;
        char text[32] = {0};
        size_t digits = (unsigned char)c->in.bytes[at + 1];
        if (at + 2 + digits > end || digits > sizeof text - 1) break;
        memcpy(text, c->in.bytes + at + 2, digits);
        c->name = strtoull(text, NULL, 10);
        break;
    }
    c->logged_in = 1;
    c->next_of_name = *place_of(c->name);
    *place_of(c->name) = c;
    release(&c->in);
    // Version byte; tag 3 (LoginResponse) with an empty id.
    append(&c->out, "\x29\x03\x02\x0a\x00", 5);
    mark_dirty(c);
}

static void readable(struct connection *c) {
    static char bytes[READ_BYTES];
    if (!c->handshaken) {
        int result = SSL_do_handshake(c->ssl);
        if (result != 1) {
            int error = SSL_get_error(c->ssl, result);
            if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) c->dead = 1;
            return;
        }
        c->handshaken = 1;
    }
    while (!c->dead) {
        int count = SSL_read(c->ssl, bytes, sizeof bytes);
        if (count <= 0) {
            if (SSL_get_error(c->ssl, count) != SSL_ERROR_WANT_READ) c->dead = 1;
            return;
        }
        if (c->kind == APP_SERVER) {
            app_server_received(c, bytes, count);
        } else {
            device_received(c, bytes, count);
        }
    }
}

static void watch(struct connection *c, unsigned events) {
    struct epoll_event event = {.events = events, .data.ptr = c};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event) != 0) abort();
}

static void accept_all(struct connection *listener) {
    for (;;) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) return;
        int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct connection *c = calloc(1, sizeof *c);
        if (!c) abort();
        c->fd = fd;
        c->kind = listener->kind == APP_SERVER_LISTENER ? APP_SERVER : DEVICE;
        c->ssl = SSL_new(context);
        SSL_set_fd(c->ssl, fd);
        SSL_set_accept_state(c->ssl);
        if (c->kind == APP_SERVER) {
            c->parser = XML_ParserCreateNS(NULL, '|');
            prepare_parser(c);
        }
        watch(c, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
    }
}

static void bury(struct connection *c) {
    if (c->logged_in) forget_device(c);
    if (c->parser) XML_ParserFree(c->parser);
    SSL_free(c->ssl);
    close(c->fd);
    release(&c->out);
    release(&c->in);
    release(&c->text);
    free(c);
}

static int listen_on_loopback(struct connection *listener, enum kind kind) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    listener->kind = kind;
    listener->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(listener->fd, (struct sockaddr *)&address, length) || listen(listener->fd, 4096)
        || getsockname(listener->fd, (struct sockaddr *)&address, &length)) {
        perror("ccs-relay: listen");
        exit(74);
    }
    watch(listener, EPOLLIN);
    return ntohs(address.sin_port);
}

int main(int count, char **arguments) {
    static struct connection app_servers, devices;
    struct rlimit limit;
    const char *option = count == 4 ? arguments[3] : "";
    int gives_tickets = !strcmp(option, "tickets"), reads_ahead = strcmp(option, "plain-reads");
    if (count != 3 && !(count == 4 && (gives_tickets || !reads_ahead))) {
        fputs("usage: ccs-relay CERTIFICATE KEY [plain-reads|tickets]\n", stderr);
        return 64;
    }
    signal(SIGPIPE, SIG_IGN);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
                                  | SSL_MODE_ENABLE_PARTIAL_WRITE);
    SSL_CTX_set_read_ahead(context, reads_ahead);  // one read for many records, or OpenSSL's default
    SSL_CTX_set_num_tickets(context, gives_tickets);  // one for each handshake, or none
    if (SSL_CTX_use_certificate_chain_file(context, arguments[1]) != 1
        || SSL_CTX_use_PrivateKey_file(context, arguments[2], SSL_FILETYPE_PEM) != 1) {
        ERR_print_errors_fp(stderr);
        return 74;
    }
    int app_server_port = listen_on_loopback(&app_servers, APP_SERVER_LISTENER);
    int device_port = listen_on_loopback(&devices, DEVICE_LISTENER);
    printf("%d %d\n", app_server_port, device_port);
    fflush(stdout);
    for (;;) {
        static struct epoll_event events[EVENTS];
        int ready = epoll_wait(epoll, events, EVENTS, -1);
        for (int at = 0; at < ready; at++) {
            struct connection *c = events[at].data.ptr;
            if (c->kind == APP_SERVER_LISTENER || c->kind == DEVICE_LISTENER) {
                accept_all(c);
                continue;
            }
            if (events[at].events & EPOLLOUT && c->blocked) {
                c->blocked = 0;
                mark_dirty(c);
            }
            readable(c);
            if (c->dead) mark_dirty(c);
        }
        for (size_t at = 0; at < dirty_count; at++)
            if (!dirty[at]->dead && !dirty[at]->blocked) flush_output(dirty[at]);
            else dirty[at]->dirty = 0;
        for (size_t at = 0; at < dirty_count; at++)
            if (dirty[at]->dead) bury(dirty[at]);
        dirty_count = 0;
    }
}
