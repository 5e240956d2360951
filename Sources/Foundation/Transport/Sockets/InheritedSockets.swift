import Glibc

/// Sockets passed by systemd (sd_listen_fds): descriptors from 3 on, with names.
public enum InheritedSockets {
    /// A socket that was handed over, with its name.
    public struct Entry: Sendable, Hashable {
        /// `FileDescriptorName` of the socket unit; `unknown` if it has none.
        public var name: String
        /// The descriptor, open and owned by the caller.
        public var descriptor: Int32
    }

    /// The sockets described by `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`; empty if they are for another process.
    public static func entries(environment: (String) -> String? = Environment.value) -> [Entry] {
        guard let process = environment("LISTEN_PID").flatMap({ Int32($0) }), process == getpid(),
            let count = environment("LISTEN_FDS").flatMap({ Int32($0) }), (1...1_024).contains(count)
        else { return [] }
        let names = (environment("LISTEN_FDNAMES") ?? "").split(
            separator: ":", omittingEmptySubsequences: false)
        return (0..<count).map { at in
            let name = Int(at) < names.count ? String(names[Int(at)]) : ""
            return Entry(name: name.isEmpty ? "unknown" : name, descriptor: 3 + at)
        }
    }

    /// Whether systemd, or another parent that passed sockets, keeps them open after this process ends.
    public static var areGiven: Bool { !entries().isEmpty }

    /// Returns `entries`, and removes the variables so that child processes do not see them.
    public static func take() -> [Entry] {
        let found = entries()
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { _ = unsafe unsetenv(name) }
        return found
    }
}
