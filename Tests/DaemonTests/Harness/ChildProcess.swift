import Foundation

/// Declared by glibc 2.34 behind a feature macro that Swift's module leaves out.
@_silgen_name("posix_spawn_file_actions_addclosefrom_np")
private func addCloseFrom(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ from: Int32) -> Int32

/// A program that was started.
///
/// Foundation's `Process` is not used: it keeps its sockets in sets of 1,024 descriptors and crashes when other tests of
/// the same run have more open, and its children begin with signals blocked.
final class ChildProcess {
    /// How it ended.
    enum TerminationReason {
        case exit
        case uncaughtSignal
    }

    var executableURL: URL?
    var arguments: [String] = []
    /// All variables; nil: those of this process.
    var environment: [String: String]?
    /// A `Pipe` or a `FileHandle`; nil: that of this process.
    var standardInput: Any?
    var standardOutput: Any?
    var standardError: Any?
    /// Descriptors that it finds open from 3 on, in this order.
    var inherited: [Int32] = []
    private(set) var processIdentifier: Int32 = 0
    private var status: Int32?

    /// Starts it.
    func run() throws {
        guard let path = executableURL?.path else { throw HarnessFailure("no program is named") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let ends: [(Any?, Int32, KeyPath<Pipe, FileHandle>)] = [
            (standardInput, 0, \.fileHandleForReading), (standardOutput, 1, \.fileHandleForWriting),
            (standardError, 2, \.fileHandleForWriting),
        ]
        for (end, number, pipeEnd) in ends {
            let handle = (end as? Pipe)?[keyPath: pipeEnd] ?? end as? FileHandle
            if let handle { posix_spawn_file_actions_adddup2(&actions, handle.fileDescriptor, number) }
        }
        // Copies, out of the way of the numbers that they get there.
        let copies = inherited.map { fcntl($0, F_DUPFD_CLOEXEC, 512) }
        defer { for copy in copies { close(copy) } }
        for (at, copy) in copies.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, copy, 3 + Int32(at))
        }
        _ = addCloseFrom(&actions, 3 + Int32(copies.count))

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        // A driver that has ended must not end the tests that write to it; children begin with the usual course.
        signal(SIGPIPE, SIG_IGN)
        var usual = sigset_t()
        sigemptyset(&usual)
        sigaddset(&usual, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &usual)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        let variables = environment ?? ProcessInfo.processInfo.environment
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        var settings: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for word in words + settings { free(word) } }
        let code = posix_spawn(&processIdentifier, path, &actions, &attributes, &words, &settings)
        guard code == 0 else {
            throw HarnessFailure("cannot start \(path): \(String(cString: strerror(code)))")
        }
        for (end, _, pipeEnd) in ends { try (end as? Pipe)?[keyPath: pipeEnd].close() }
    }

    /// Whether it has not ended.
    var isRunning: Bool {
        guard processIdentifier > 0, status == nil else { return false }
        var found: Int32 = 0
        if waitpid(processIdentifier, &found, WNOHANG) == processIdentifier { status = found }
        return status == nil
    }

    /// Waits for its end.
    func waitUntilExit() {
        guard processIdentifier > 0, status == nil else { return }
        var found: Int32 = 0
        while waitpid(processIdentifier, &found, 0) < 0, errno == EINTR {}
        status = found
    }

    /// Ends it, where it runs: asked first, and by force after five seconds.
    func end() {
        if isRunning { kill(processIdentifier, SIGTERM) }
        let end = Date().addingTimeInterval(5)
        while isRunning, Date() < end { usleep(5_000) }
        if isRunning { kill(processIdentifier, SIGKILL) }
        waitUntilExit()
    }

    /// How it ended; after its end.
    var terminationReason: TerminationReason { (status ?? 0) & 0x7f == 0 ? .exit : .uncaughtSignal }

    /// The exit code, or the number of the signal; after its end.
    var terminationStatus: Int32 {
        let status = status ?? 0
        return terminationReason == .exit ? status >> 8 & 0xff : status & 0x7f
    }
}
