/*
 * Annotates for ThreadSanitizer the waiting path of Swift's Mutex; preloaded by Scripts/test --sanitize thread.
 *
 * The quick paths of Mutex are compiled into our modules and seen. Where two threads meet, libswiftSynchronization takes and
 * gives the lock in the kernel, in code that was not built for the sanitizer: without these two lines all that a contended
 * Mutex guards is reported as a race. A list of suppressions could only silence those places whole.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

/* Absent in children that are not built for the sanitizer. */
void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

typedef SWIFT void (*Lock)(uint32_t thread, SELF);
typedef SWIFT void (*Unlock)(SELF);

/* _MutexHandle._lockSlow(_: UInt32) */
SWIFT void lockSlow(uint32_t thread, SELF) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT void lockSlow(uint32_t thread, SELF) {
    static Lock next;
    if (!next) next = (Lock)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
    next(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

/* _MutexHandle._unlockSlow() */
SWIFT void unlockSlow(SELF) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
SWIFT void unlockSlow(SELF) {
    static Unlock next;
    if (!next) next = (Unlock)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
    if (__tsan_release) __tsan_release(self);
    next(self);
}
