import CLinux
import Glibc

/// Reports the state of the service to systemd (sd_notify); does nothing without `NOTIFY_SOCKET`.
public struct SystemdNotify: Sendable {
    private let address: SocketAddress?
    /// Milliseconds between two `alive` calls that satisfy the watchdog; `nil` if it is not enabled.
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

    /// Whether systemd expects notifications.
    public var isWanted: Bool { address != nil }

    /// Reports that the service accepts connections.
    public func ready(status: String) { send("READY=1\nSTATUS=\(Self.line(status))") }
    /// Reports that the service is stopping.
    public func stopping(status: String) { send("STOPPING=1\nSTATUS=\(Self.line(status))") }
    /// Sets the line in `systemctl status`.
    public func status(_ text: String) { send("STATUS=\(Self.line(text))") }
    /// Reports to the watchdog that the service is alive.
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
    /// Returns the value of a variable, or `nil` if it is not set.
    public static func value(_ name: String) -> String? {
        guard let text = unsafe getenv(name) else { return nil }
        return unsafe String(cString: text)
    }
}
