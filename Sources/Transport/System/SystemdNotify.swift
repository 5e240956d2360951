import CLinux
import Glibc

/// Tells systemd how the service is (sd_notify); does nothing where nobody asked.
public struct SystemdNotify: Sendable {
    private let address: SocketAddress?
    /// Milliseconds between two `alive` calls at which the watchdog is surely content; nil when there is none.
    public let watchdogMilliseconds: Int64?

    /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` from an environment.
    public init(environment: (String) -> String? = Environment.value) {
        address = environment("NOTIFY_SOCKET").flatMap { path in
            path.hasPrefix("/") || path.hasPrefix("@") ? .unix(path: path) : nil
        }
        let isForUs = environment("WATCHDOG_PID").map { Int32($0) == getpid() } ?? true
        let micros = isForUs ? environment("WATCHDOG_USEC").flatMap { Int64($0) } : nil
        watchdogMilliseconds = micros.flatMap { $0 >= 2_000 ? $0 / 2_000 : nil }
    }

    /// Whether systemd listens.
    public var isWanted: Bool { address != nil }

    /// The service can take connections.
    public func ready(status: String) { send("READY=1\nSTATUS=\(Self.line(status))") }
    /// The service ends.
    public func stopping(status: String) { send("STOPPING=1\nSTATUS=\(Self.line(status))") }
    /// One line for `systemctl status`.
    public func status(_ text: String) { send("STATUS=\(Self.line(text))") }
    /// The service lives: for the watchdog.
    public func alive() { send("WATCHDOG=1") }

    private static func line(_ text: String) -> String {
        String(text.map { $0.isNewline ? " " : $0 })
    }

    private func send(_ text: String) {
        guard let address else { return }
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        let number = socket(AF_UNIX, kind, 0)
        guard number >= 0 else { return }
        let socket = Descriptor(owning: number)
        let bytes = Array(text.utf8)
        _ = unsafe address.withSocketAddress { target, length in
            unsafe sendto(socket.number, bytes, bytes.count, Int32(MSG_NOSIGNAL), target, length)
        }
    }
}

/// The environment of the process.
public enum Environment {
    /// The value of a variable; nil where it is not set.
    public static func value(_ name: String) -> String? {
        guard let text = unsafe getenv(name) else { return nil }
        return unsafe String(cString: text)
    }
}
