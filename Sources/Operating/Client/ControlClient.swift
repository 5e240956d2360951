import Basics
import Glibc
public import Operator
public import Wire

/// Why a command could not be sent to the daemon, or was not answered.
public enum ControlError: Error, Sendable, Equatable {
    /// There is no file at the path.
    case noSocket
    /// There is a socket at the path, but no process is listening.
    case notRunning
    /// The user has no permission to open the socket.
    case notPermitted
    /// The path is longer than the kernel allows.
    case pathTooLong
    /// No line arrived within this time.
    case silent(seconds: Int)
    /// The daemon closed the connection before it answered.
    case ended
    /// The daemon sent something other than an answer.
    case malformed(String)
    /// Another system error, with the text of the system.
    case system(String)
}

/// The daemon's answer.
public enum ControlAnswer<Answer: Sendable>: Sendable {
    /// The command was carried out.
    case done(Answer)
    /// The command was refused, with the reason and what to do instead.
    case refused(OperatorProblem)
}

extension ControlAnswer: Equatable where Answer: Equatable {}

/// Sends commands to a running daemon over its control socket: one JSON object per line in each direction.
///
/// Calls block, as tools need it. One connection serves any number of commands, one after the other.
public struct ControlClient: ~Copyable {
    private let descriptor: Int32
    /// Seconds without a line after which it gives up; `nil` for those of each command.
    private let silenceSeconds: Int?
    private var buffer: [UInt8] = []

    /// Connects to the socket at a path.
    public init(
        path: String, silenceSeconds: Int? = nil
    ) throws(ControlError) {
        descriptor = try Self.connected(to: path, silenceSeconds ?? Limits.Operator.silenceSeconds)
        self.silenceSeconds = silenceSeconds
    }

    private static func connected(to path: String, _ silenceSeconds: Int) throws(ControlError) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let isShort = unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard bytes.count < room.count else { return false }
            unsafe room.copyBytes(from: bytes)
            return true
        }
        guard isShort else { throw .pathTooLong }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure(errno) }
        limitSilence(of: descriptor, seconds: silenceSeconds)
        let outcome = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard outcome == 0 else {
            let error = failure(errno, seconds: silenceSeconds)
            close(descriptor)
            throw error
        }
        return descriptor
    }

    deinit { close(descriptor) }

    /// Bounds the time that a call on the socket may block. A stopped daemon also lets connects block, once some wait to be accepted.
    private static func limitSilence(of descriptor: Int32, seconds: Int) {
        var patience = timeval(tv_sec: seconds, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
    }

    /// Sends a command and waits for its answer. `onProgress` and `onLine` are called for each report and line before it.
    public mutating func run<Command: OperatorCommand>(
        _ command: Command, onProgress: (OperatorProgress) -> Void = { _ in },
        onLine: (Command.Line) -> Void = { _ in }
    ) throws(ControlError) -> ControlAnswer<Command.Answer> {
        switch try result(of: command, onProgress: onProgress, onLine: onLine) {
        case .done(let json):
            do throws(FieldProblem) { return .done(try Command.Answer(json: json)) } catch {
                throw .malformed("an invalid answer: \(error.text)")
            }
        case .refused(let problem): return .refused(problem)
        }
    }

    /// Sends a command and returns the answer as JSON, for tools that support daemons of other versions.
    public mutating func result<Command: OperatorCommand>(
        of command: Command, onProgress: (OperatorProgress) -> Void = { _ in },
        onLine: (Command.Line) -> Void = { _ in }
    ) throws(ControlError) -> ControlAnswer<JSONValue> {
        let seconds = silenceSeconds ?? Command.silenceSeconds
        Self.limitSilence(of: descriptor, seconds: seconds)
        try send(Array((RequestLine.json(command).compact + "\n").utf8), seconds)
        while true {
            let line = try nextLine(seconds)
            let reply: OperatorReply
            do throws(OperatorReply.ReadingProblem) { reply = try OperatorReply(parsing: line.raw) } catch {
                throw Self.malformed(error)
            }
            switch reply {
            case .progress(let progress): onProgress(progress)
            case .line(let name, let json): onLine(try Self.line(name, json))
            case .result(let json): return .done(json)
            case .problem(let problem): return .refused(problem)
            }
        }
    }

    private static func line<Line: OperatorLine>(_ name: String, _ json: JSONValue) throws(ControlError)
        -> Line
    {
        let line: Line?
        do throws(FieldProblem) { line = try Line(name: name, json: json) } catch {
            throw .malformed("an invalid line: \(error.text)")
        }
        guard let line else { throw malformed(.unknownForm) }
        return line
    }

    private static func malformed(_ problem: OperatorReply.ReadingProblem) -> ControlError {
        switch problem {
        case .notJSON: .malformed("a line that is not JSON")
        case .unknownForm: .malformed("an answer without ok")
        case .progress(let problem): .malformed("an invalid line: \(problem.text)")
        }
    }

    private func send(_ bytes: [UInt8], _ seconds: Int) throws(ControlError) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[sent...])
                return unsafe Glibc.send(
                    descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure(errno, seconds: seconds) }
            sent += count
        }
    }

    private mutating func nextLine(_ seconds: Int) throws(ControlError) -> [UInt8] {
        var searched = 0
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) {
                let line = Array(buffer[..<end])
                buffer.removeSubrange(...end)
                return line
            }
            searched = buffer.count
            guard buffer.count <= Limits.Operator.lineBytes else {
                throw .malformed("a line that is too long")
            }
            try receive(seconds)
        }
    }

    private mutating func receive(_ seconds: Int) throws(ControlError) {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure(errno, seconds: seconds) }
            guard count > 0 else { throw .ended }
            buffer += chunk[..<count]
            return
        }
    }

    private static func failure(_ code: Int32, seconds: Int = 0) -> ControlError {
        switch code {
        case EAGAIN: .silent(seconds: seconds)
        case ENOENT, ENOTDIR: .noSocket
        case ECONNREFUSED, ENOTSOCK: .notRunning
        case EACCES, EPERM: .notPermitted
        case ECONNRESET, EPIPE: .ended
        default: .system(unsafe String(cString: strerror(code)))
        }
    }
}
