import CLinux
import Glibc

/// A signal that the server handles.
public enum ServerSignal: Int32, Sendable, CaseIterable {
    /// SIGHUP: reload configuration and certificates.
    case reload = 1
    /// SIGINT: like SIGTERM, from a terminal.
    case interrupt = 2
    /// SIGTERM: drain and exit.
    case terminate = 15
}

/// The signals of the process as a descriptor; create it on the first thread before others start, so that all inherit the mask.
public struct Signals: ~Copyable, Sendable {
    /// Readable when a signal is pending; for `Reactor.watch`.
    public let descriptor: Descriptor

    /// Blocks SIGTERM, SIGINT and SIGHUP, and ignores SIGPIPE.
    public init() throws(TransportError) {
        _ = signal(SIGPIPE, SIG_IGN)
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for each in ServerSignal.allCases { unsafe sigaddset(&set, each.rawValue) }
        guard unsafe pthread_sigmask(SIG_BLOCK, &set, nil) == 0 else {
            throw SystemCall.failure("block signals")
        }
        let number = unsafe signalfd(-1, &set, Int32(SFD_NONBLOCK | SFD_CLOEXEC))
        guard number >= 0 else { throw SystemCall.failure("make a signalfd") }
        descriptor = Descriptor(owning: number)
    }

    /// Returns and removes the next pending signal, or `nil` if there is none.
    public func next() -> ServerSignal? {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        guard unsafe read(descriptor.number, &info, size) == size else { return nil }
        return ServerSignal(rawValue: Int32(info.ssi_signo))
    }
}
