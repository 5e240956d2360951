import Foundation

/// Declared by glibc 2.34 behind a feature macro that Swift's module leaves out.
@_silgen_name("posix_spawn_file_actions_addclosefrom_np")
private func addCloseFrom(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ from: Int32) -> Int32

/// A child process.
///
/// Foundation's `Process` is not used: it keeps its sockets in sets of 1,024 descriptors and crashes when other tests of
/// the same run have more open, and its children start with signals blocked.
final class ChildProcess {
    /// The kind of exit.
    enum TerminationReason {
        case exit
        case uncaughtSignal
    }

    var executableURL: URL?
    var arguments: [String] = []
    /// The whole environment, or `nil` for that of this process.
    var environment: [String: String]?
    /// A `Pipe` or a `FileHandle`, or `nil` for that of this process.
    var standardInput: Any?
    var standardOutput: Any?
    var standardError: Any?
    /// Descriptors that the child inherits as 3 and up, in this order.
    var inherited: [Int32] = []
    private(set) var processIdentifier: Int32 = 0
    private var status: Int32?

    func run() throws {
        guard let path = executableURL?.path else { throw HarnessFailure("executableURL is not set") }
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
        // Copies with high numbers, so that dup2 to 3 and up cannot overwrite a source.
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
        // A write to an ended driver must not kill the tests; children get the default action again.
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

    var isRunning: Bool {
        guard processIdentifier > 0, status == nil else { return false }
        var found: Int32 = 0
        if waitpid(processIdentifier, &found, WNOHANG) == processIdentifier { status = found }
        return status == nil
    }

    func waitUntilExit() {
        guard processIdentifier > 0, status == nil else { return }
        var found: Int32 = 0
        while waitpid(processIdentifier, &found, 0) < 0, errno == EINTR {}
        status = found
    }

    /// Ends a running process with SIGTERM, and with SIGKILL after five seconds.
    func end() {
        if isRunning { kill(processIdentifier, SIGTERM) }
        let end = Date().addingTimeInterval(5)
        while isRunning, Date() < end { usleep(5_000) }
        if isRunning { kill(processIdentifier, SIGKILL) }
        waitUntilExit()
    }

    /// The kind of exit; valid after the end.
    var terminationReason: TerminationReason { (status ?? 0) & 0x7f == 0 ? .exit : .uncaughtSignal }

    /// The exit code or the number of the signal; valid after the end.
    var terminationStatus: Int32 {
        let status = status ?? 0
        return terminationReason == .exit ? status >> 8 & 0xff : status & 0x7f
    }
}
