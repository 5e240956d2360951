import Catalogue
import Glibc
import Transport

/// A program started by the bench; ended at the latest with the bench itself.
final class Child {
    let process: Int32
    private let output: Int32
    private var hasEnded = false
    /// The exit code once it has ended by itself. `nil` while it runs, and if a signal ended it.
    private(set) var exitCode: Int32?

    /// Starts a program; its standard error is written to a file, its standard output is read by `line`.
    init(_ program: String, _ arguments: [String], errorFile: String) throws(BenchError) {
        var pipe: [Int32] = [0, 0]
        guard unsafe Glibc.pipe(&pipe) == 0 else {
            throw BenchError("cannot create a pipe", code: .inputOutput)
        }
        for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, pipe[1], 1)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, errorFile, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        // The bench blocks the signals that it watches; a child process must receive them.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) }
        unsafe words.append(nil)
        defer { unsafe words.forEach { unsafe free($0) } }
        var started: pid_t = 0
        let result = unsafe posix_spawn(&started, program, &actions, &attributes, words, environ)
        _ = close(pipe[1])
        guard result == 0 else {
            _ = close(pipe[0])
            throw BenchError(
                "cannot start \(program): \(unsafe String(cString: strerror(result)))", code: .unavailable)
        }
        process = started
        output = pipe[0]
    }

    deinit {
        end()
        _ = close(output)
    }

    /// Returns the next line of its standard output, or `nil` if the output has ended or nothing is printed for `seconds`.
    func line(seconds: Int32) -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            var wait = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&wait, 1, seconds * 1_000) == 1, unsafe read(output, &byte, 1) == 1 else {
                return nil
            }
            if byte == 0x0A { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
    }

    /// Whether it is still running.
    var isRunning: Bool {
        guard !hasEnded else { return false }
        var status: Int32 = 0
        hasEnded = unsafe waitpid(process, &status, WNOHANG) == process
        if hasEnded, status & 0x7F == 0 { exitCode = (status >> 8) & 0xFF }
        return !hasEnded
    }

    /// Ends it with SIGTERM, and with SIGKILL after five seconds.
    func end() {
        guard isRunning else { return }
        _ = kill(process, SIGTERM)
        for _ in 0..<100 where isRunning {
            _ = kill(process, SIGTERM)
            _ = usleep(50_000)
        }
        crash()
    }

    /// Ends it with SIGKILL.
    func crash() {
        guard isRunning else { return }
        _ = kill(process, SIGKILL)
        var status: Int32 = 0
        unsafe waitpid(process, &status, 0)
        hasEnded = true
    }
}

/// Why a measurement failed, as text for people.
struct BenchError: Error, CustomStringConvertible {
    let description: String
    /// The exit code of the program.
    let code: ExitCode

    init(_ description: String, code: ExitCode = .failure) {
        self.description = description
        self.code = code
    }
}
