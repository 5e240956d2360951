#define _GNU_SOURCE
#include "clinux.h"
#include <sys/socket.h>

int clinux_accept(int listener) { return accept4(listener, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC); }
