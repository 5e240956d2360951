import Basics
import CLinux
import Glibc
import Transport

/// Lines for people on the standard streams.
enum Console {
    /// Prints a line to standard error.
    static func error(_ line: String) {
        DescriptorOutput.write(line + "\n", to: STDERR_FILENO)
    }
}

/// What this machine says of itself.
enum Machine {
    /// Its name; nil where it has none that a certificate could hold.
    static var hostName: String? {
        var bytes = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&bytes, bytes.count - 1) == 0 else { return nil }
        let name = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let isName =
            !name.isEmpty && name.utf8.count <= 253
            && name.utf8.allSatisfy { byte in
                byte == 0x2D || byte == 0x2E || (0x30...0x39).contains(byte)
                    || (0x61...0x7A).contains(byte | 0x20)
            }
        return isName ? name : nil
    }
}

extension Environment {
    /// All variables.
    static var all: [(name: String, value: String)] {
        var found: [(name: String, value: String)] = []
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let parts = unsafe String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { found.append((String(parts[0]), String(parts[1]))) }
            unsafe entry += 1
        }
        return found
    }
}

extension Signals {
    /// Waits for a signal; nil when none came in so many milliseconds.
    borrowing func wait(milliseconds: Int64) -> ServerSignal? {
        if let signal = next() { return signal }
        var poller = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&poller, 1, Int32(clamping: milliseconds))
        return next()
    }
}

/// Threads of the control plane.
enum Threads {
    /// Starts a thread that nobody waits for.
    static func start(name: String, _ body: sending @escaping () -> Void) throws(TransportError) {
        try Thread(name: name, body).detach()
    }

    /// Sleeps; control-plane threads only.
    static func sleep(milliseconds: Int64) { usleep(UInt32(clamping: milliseconds * 1_000)) }
}

/// What the process was started with.
public enum ProcessArguments {
    /// The argument vector as the kernel gave it, the program's name first; empty where it was empty.
    public static var vector: [String] {
        (0..<clinux_argument_count()).map { at in
            unsafe clinux_argument(at).map { unsafe String(cString: $0) } ?? ""
        }
    }
}
