import CLinux
import Glibc

/// Sends one line to a UNIX-domain socket and reads one line back, to check for a running daemon.
public enum LocalRequest {
    /// The result of a request.
    public enum Answer: Sendable, Equatable {
        /// There is no socket, or no process listens on it.
        case nobody
        /// This user may not open the socket.
        case forbidden
        /// A process listens, but did not answer with a line in time.
        case silence
        /// The answer, without its newline.
        case line([UInt8])
    }

    /// Sends a line and waits for a line of at most `limit` bytes.
    public static func ask(_ path: String, _ line: String, milliseconds: Int64, limit: Int) -> Answer {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return .silence }
        let descriptor = Descriptor(owning: number)
        var patience = timeval(tv_sec: Int(milliseconds / 1_000), tv_usec: Int(milliseconds % 1_000) * 1_000)
        let size = socklen_t(MemoryLayout<timeval>.size)
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
        let connected = unsafe SocketAddress.unix(path: path).withSocketAddress {
            unsafe Glibc.connect(number, $0, $1)
        }
        guard connected == 0 else { return errno == EACCES || errno == EPERM ? .forbidden : .nobody }
        let bytes = Array((line + "\n").utf8)
        guard unsafe send(descriptor.number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            return .silence
        }
        var answer: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4_096)
        while answer.count <= limit {
            let count = SystemCall.retrying { unsafe recv(descriptor.number, &part, part.count, 0) }
            guard count > 0 else { return .silence }
            answer += part[..<count]
            if let end = answer.firstIndex(of: 0x0A) { return .line(Array(answer[..<end])) }
        }
        return .silence
    }
}
