// The Linux calls that the toolchain's Glibc module leaves out.
// No _GNU_SOURCE here: the Glibc module is built without it, and two modules must not disagree about fd_set and the like.
#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

/// accept4 with SOCK_NONBLOCK and SOCK_CLOEXEC; accept4 needs _GNU_SOURCE.
int clinux_accept(int listener);
