// A faulty disk: preloaded into a program (LD_PRELOAD), it intercepts calls on files below one folder.
//
//   FAULTY_DISK_ROOT     the folder
//   FAULTY_DISK_TRACE    a file that records every change below the folder in order; from it a program can reconstruct the
//                        folder after a power cut at any point (Tests/Daemon/DaemonTests/PowerCut)
//   FAULTY_DISK_LIES     with a trace: a part of the names of files whose syncs succeed without syncing
//   FAULTY_DISK_CONTROL  a file that specifies failures; without it no call fails. It contains one line of words:
//                          error=ENOSPC|EIO|EDQUOT   the error of failing calls
//                          calls=write,sync,...      the failing calls: open write sync allocate truncate rename unlink
//                                                    link mkdir read room; default: all except read and room
//                          after=N                   the first N of these calls succeed
//                          times=N                   the next N calls fail, later ones succeed
//                          file=NAME,NAME            of reads only those of files with these names fail
//                          short=1                   the first failing write writes half of its bytes
//
// Built by the tests: gcc -shared -fPIC -O1 -Wall -Wextra -Werror faulty_disk.c -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#define DESCRIPTORS 65536
#define REAL(name) ((__typeof__(&name))real(#name, &name##_cache))
#define CACHE(name) static void *name##_cache

// An entry of a trace: this head, then `length` bytes (paths end with a NUL). PowerCut/Trace.swift reads it.
enum operation { OPEN = 1, WRITE, SYNC, CLOSE, TRUNCATE, RENAME, UNLINK, LINK, NOTE, SYNC_FAILED, MKDIR };
struct head {
    uint32_t operation;
    int32_t descriptor;
    uint64_t number;
    uint32_t length;
} __attribute__((packed));

enum call { C_OPEN, C_WRITE, C_SYNC, C_ALLOCATE, C_TRUNCATE, C_RENAME, C_UNLINK, C_LINK, C_MKDIR, C_READ, C_ROOM, CALLS };
static const char *const call_names[CALLS] = {
    "open", "write", "sync", "allocate", "truncate", "rename", "unlink", "link", "mkdir", "read", "room"};

CACHE(open); CACHE(close); CACHE(write); CACHE(pwrite); CACHE(writev); CACHE(fwrite); CACHE(fflush); CACHE(fsync);
CACHE(fdatasync); CACHE(sync_file_range); CACHE(fallocate); CACHE(ftruncate); CACHE(rename); CACHE(unlink);
CACHE(link); CACHE(mkdir); CACHE(pread); CACHE(statvfs);
CACHE(openat); CACHE(renameat); CACHE(unlinkat); CACHE(linkat); CACHE(mkdirat);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// 1: a file below the folder; 2: a file whose syncs do nothing.
static char ours[DESCRIPTORS];
static const char *root, *control, *trace_path, *lies;
static size_t root_length;
static int trace = -1, is_ready;
// The last content of the control file, and the number of matching calls since.
static char said[512];
static long asked;

static void *real(const char *name, void **cache) {
    if (!*cache) *cache = dlsym(RTLD_NEXT, name);
    if (!*cache) abort();
    return *cache;
}

static void prepare(void) {
    if (is_ready) return;
    is_ready = 1;
    root = getenv("FAULTY_DISK_ROOT");
    root_length = root ? strlen(root) : 0;
    control = getenv("FAULTY_DISK_CONTROL");
    lies = getenv("FAULTY_DISK_LIES");
    trace_path = getenv("FAULTY_DISK_TRACE");
    if (root && trace_path) trace = REAL(open)(trace_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (root && trace_path && trace < 0) abort();
}

__attribute__((constructor)) static void start(void) {
    pthread_mutex_lock(&lock);
    prepare();
    pthread_mutex_unlock(&lock);
}

static int is_below(const char *path) {
    return root && path && strncmp(path, root, root_length) == 0
        && (path[root_length] == '/' || path[root_length] == 0);
}

static int has(const char *path, const char *part) { return part && *part && strstr(path + root_length, part); }

static int is_ours(int descriptor) { return descriptor >= 0 && descriptor < DESCRIPTORS && ours[descriptor]; }

static void record(enum operation operation, int descriptor, uint64_t number, const void *bytes, size_t length) {
    if (trace < 0) return;
    struct head head = {operation, descriptor, number, (uint32_t)length};
    struct iovec parts[2] = {{&head, sizeof head}, {(void *)bytes, length}};
    if (REAL(writev)(trace, parts, length ? 2 : 1) != (ssize_t)(sizeof head + length)) abort();
}

static void record_paths(enum operation operation, const char *first, const char *second) {
    char both[2 * PATH_MAX];
    int length = snprintf(both, sizeof both, "%s%c%s", first, 0, second);
    record(operation, -1, 0, both, (size_t)length + 1);
}

// Returns the value of a word "key=value" of the control file, or NULL if it is missing.
static const char *word(const char *key, char *value, size_t room) {
    size_t length = strlen(key);
    for (const char *at = said; *at; at += strcspn(at, " \n"), at += strspn(at, " \n"))
        if (strncmp(at, key, length) == 0 && at[length] == '=') {
            snprintf(value, room, "%.*s", (int)strcspn(at + length + 1, " \n"), at + length + 1);
            return value;
        }
    return NULL;
}

static long number(const char *key, long otherwise) {
    char value[32];
    return word(key, value, sizeof value) ? atol(value) : otherwise;
}

static int names(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length])) return 1;
    return 0;
}

// Returns the error of a call, or 0 if it must be executed. Sets `half` if a write must write half of its bytes first.
static int failure(enum call call, int *half) {
    if (!control) return 0;
    char now[sizeof said] = "";
    int file = REAL(open)(control, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        said[0] = 0;
        return 0;
    }
    // `read` is not intercepted: the engine reads by pread.
    ssize_t count = read(file, now, sizeof now - 1);
    REAL(close)(file);
    if (count <= 0) return 0;
    if (strcmp(now, said) != 0) {
        strcpy(said, now);
        asked = 0;
    }
    char value[256];
    const char *calls = word("calls", value, sizeof value);
    if (calls ? !names(calls, call_names[call]) : call == C_READ || call == C_ROOM) return 0;
    long at = asked++, after = number("after", 0);
    if (at < after || at >= after + number("times", LONG_MAX / 2)) return 0;
    if (half && at == after && number("short", 0)) *half = 1;
    char error[32];
    if (!word("error", error, sizeof error)) return EIO;
    return strcmp(error, "ENOSPC") == 0 ? ENOSPC : strcmp(error, "EDQUOT") == 0 ? EDQUOT : EIO;
}

// Executes a call under the lock, unless it must fail.
#define GUARDED(type, call, body)                                                                                     \
    pthread_mutex_lock(&lock);                                                                                        \
    int half = 0, error = failure(call, &half);                                                                       \
    (void)half;                                                                                                       \
    type result = (type)-1;                                                                                           \
    if (!error) {                                                                                                     \
        body                                                                                                          \
        error = errno;                                                                                                \
    }                                                                                                                 \
    pthread_mutex_unlock(&lock);                                                                                      \
    errno = error;                                                                                                    \
    return result;

// Adds a line of the program under test to the trace; called through dlsym.
void faulty_disk_note(const char *text) {
    pthread_mutex_lock(&lock);
    record(NOTE, -1, 0, text, strlen(text) + 1);
    pthread_mutex_unlock(&lock);
}

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    prepare();
    if (!is_below(path)) return REAL(open)(path, flags, mode);
    GUARDED(int, C_OPEN, {
        struct stat before;
        int is_new = stat(path, &before) != 0;
        result = REAL(open)(path, flags, mode);
        if (result >= 0 && result < DESCRIPTORS) {
            ours[result] = has(path, lies) ? 2 : 1;
            record(OPEN, result, (is_new ? 1 : 0) | (flags & O_TRUNC ? 2 : 0), path, strlen(path) + 1);
        }
    })
}

int close(int descriptor) {
    if (!is_ours(descriptor)) return REAL(close)(descriptor);
    pthread_mutex_lock(&lock);
    ours[descriptor] = 0;
    record(CLOSE, descriptor, 0, NULL, 0);
    int result = REAL(close)(descriptor);
    pthread_mutex_unlock(&lock);
    return result;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    if (!is_ours(descriptor)) return REAL(write)(descriptor, bytes, count);
    pthread_mutex_lock(&lock);
    int half = 0, error = failure(C_WRITE, &half);
    if (error && !(half && count > 1)) {
        pthread_mutex_unlock(&lock);
        errno = error;
        return -1;
    }
    ssize_t done = REAL(write)(descriptor, bytes, error ? count / 2 : count);
    int what = errno;
    if (done > 0) record(WRITE, descriptor, (uint64_t)(lseek(descriptor, 0, SEEK_CUR) - done), bytes, (size_t)done);
    pthread_mutex_unlock(&lock);
    errno = what;
    return done;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    if (!is_ours(descriptor)) return REAL(pwrite)(descriptor, bytes, count, offset);
    GUARDED(ssize_t, C_WRITE, {
        result = REAL(pwrite)(descriptor, bytes, count, offset);
        if (result > 0) record(WRITE, descriptor, (uint64_t)offset, bytes, (size_t)result);
    })
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    if (!is_ours(descriptor)) return REAL(writev)(descriptor, parts, count);
    // Part by part: the caller must handle a short count.
    return count > 0 ? write(descriptor, parts[0].iov_base, parts[0].iov_len) : 0;
}

// The log of RocksDB uses stdio. It is not in the trace, since it is never read.
size_t fwrite(const void *bytes, size_t size, size_t count, FILE *file) {
    if (!is_ours(fileno(file))) return REAL(fwrite)(bytes, size, count, file);
    GUARDED(size_t, C_WRITE, {
        result = REAL(fwrite)(bytes, size, count, file);
    })
}

int fflush(FILE *file) {
    if (!file || !is_ours(fileno(file))) return REAL(fflush)(file);
    GUARDED(int, C_WRITE, { result = REAL(fflush)(file); })
}

// A trace needs no real sync and is faster without. After a failed sync the kernel treats the bytes as written: no later sync
// writes them to disk.
static int synced(int descriptor, int (*carry_out)(int)) {
    pthread_mutex_lock(&lock);
    int error = failure(C_SYNC, NULL), result = -1;
    if (!error) {
        result = trace >= 0 ? 0 : carry_out(descriptor);
        error = errno;
    }
    if (result != 0) record(SYNC_FAILED, descriptor, 0, NULL, 0);
    else if (ours[descriptor] == 1) record(SYNC, descriptor, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int fsync(int descriptor) {
    if (!is_ours(descriptor)) return REAL(fsync)(descriptor);
    return synced(descriptor, REAL(fsync));
}

int fdatasync(int descriptor) {
    if (!is_ours(descriptor)) return REAL(fdatasync)(descriptor);
    return synced(descriptor, REAL(fdatasync));
}

// Gives no guarantee for power cuts, so it is not in the trace. Without flags it does nothing and cannot fail.
int sync_file_range(int descriptor, off64_t offset, off64_t count, unsigned flags) {
    if (!is_ours(descriptor) || flags == 0) return REAL(sync_file_range)(descriptor, offset, count, flags);
    GUARDED(int, C_SYNC, { result = trace >= 0 ? 0 : REAL(sync_file_range)(descriptor, offset, count, flags); })
}

int fallocate(int descriptor, int mode, off_t offset, off_t count) {
    if (!is_ours(descriptor)) return REAL(fallocate)(descriptor, mode, offset, count);
    GUARDED(int, C_ALLOCATE, {
        result = REAL(fallocate)(descriptor, mode, offset, count);
        // A call that keeps the size does not change the content, nor does a hole beyond the end.
        struct stat after;
        if (result == 0 && mode == 0 && fstat(descriptor, &after) == 0)
            record(TRUNCATE, descriptor, (uint64_t)after.st_size, NULL, 0);
    })
}

int ftruncate(int descriptor, off_t size) {
    if (!is_ours(descriptor)) return REAL(ftruncate)(descriptor, size);
    GUARDED(int, C_TRUNCATE, {
        result = REAL(ftruncate)(descriptor, size);
        if (result == 0) record(TRUNCATE, descriptor, (uint64_t)size, NULL, 0);
    })
}

int rename(const char *from, const char *to) {
    if (!is_below(from)) return REAL(rename)(from, to);
    GUARDED(int, C_RENAME, {
        result = REAL(rename)(from, to);
        if (result == 0) record_paths(RENAME, from, to);
    })
}

int unlink(const char *path) {
    if (!is_below(path)) return REAL(unlink)(path);
    GUARDED(int, C_UNLINK, {
        result = REAL(unlink)(path);
        if (result == 0) record(UNLINK, -1, 0, path, strlen(path) + 1);
    })
}

int link(const char *from, const char *to) {
    if (!is_below(from)) return REAL(link)(from, to);
    GUARDED(int, C_LINK, {
        result = REAL(link)(from, to);
        if (result == 0) record_paths(LINK, from, to);
    })
}

int mkdir(const char *path, mode_t mode) {
    if (!is_below(path)) return REAL(mkdir)(path, mode);
    GUARDED(int, C_MKDIR, {
        result = REAL(mkdir)(path, mode);
        if (result == 0) record(MKDIR, -1, 0, path, strlen(path) + 1);
    })
}

// Calls with a name in an open folder: those below the folder become calls with its path.

// Returns the path of a name in a folder.
static const char *resolve(int folder, const char *name, char path[PATH_MAX]) {
    if (folder == AT_FDCWD || *name == '/') return name;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return name;
    snprintf(path + length, (size_t)(PATH_MAX - length), "/%s", name);
    return path;
}

int openat(int folder, const char *name, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    prepare();
    char room[PATH_MAX];
    const char *path = resolve(folder, name, room);
    if (!is_below(path)) return REAL(openat)(folder, name, flags, mode);
    return open(path, flags, mode);
}

int renameat(int folder, const char *from, int other, const char *to) {
    char first[PATH_MAX], second[PATH_MAX];
    const char *path = resolve(folder, from, first);
    if (!is_below(path)) return REAL(renameat)(folder, from, other, to);
    return rename(path, resolve(other, to, second));
}

int unlinkat(int folder, const char *name, int flags) {
    char room[PATH_MAX];
    const char *path = resolve(folder, name, room);
    if (!is_below(path) || flags & AT_REMOVEDIR) return REAL(unlinkat)(folder, name, flags);
    return unlink(path);
}

int linkat(int folder, const char *from, int other, const char *to, int flags) {
    char first[PATH_MAX], second[PATH_MAX];
    const char *path = resolve(folder, from, first);
    if (!is_below(path)) return REAL(linkat)(folder, from, other, to, flags);
    return link(path, resolve(other, to, second));
}

int mkdirat(int folder, const char *name, mode_t mode) {
    char room[PATH_MAX];
    const char *path = resolve(folder, name, room);
    if (!is_below(path)) return REAL(mkdirat)(folder, name, mode);
    return mkdir(path, mode);
}

// Whether reads of a file may fail: without the word "file" those of every file may.
static int is_named(int descriptor) {
    char value[256], link[64], path[PATH_MAX];
    const char *files = word("file", value, sizeof value);
    if (!files) return 1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    const char *name = strrchr(path, '/');
    return name && names(files, name + 1);
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
    if (!is_ours(descriptor)) return REAL(pread)(descriptor, bytes, count, offset);
    pthread_mutex_lock(&lock);
    int error = failure(C_READ, NULL);
    if (error && !is_named(descriptor)) error = 0;
    pthread_mutex_unlock(&lock);
    if (!error) return REAL(pread)(descriptor, bytes, count, offset);
    errno = error;
    return -1;
}

int statvfs(const char *path, struct statvfs *room) {
    if (!is_below(path)) return REAL(statvfs)(path, room);
    pthread_mutex_lock(&lock);
    int error = failure(C_ROOM, NULL);
    pthread_mutex_unlock(&lock);
    int result = REAL(statvfs)(path, room);
    if (error && result == 0) room->f_bavail = 0;
    return result;
}
