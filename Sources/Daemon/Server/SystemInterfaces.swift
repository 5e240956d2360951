import Basics
import CLinux
import Client
import Glibc
import Transport

/// Messages for people on the standard streams.
enum Console {
    /// Prints a line to standard output, where the text that a command was asked for goes.
    static func print(_ line: String) { StandardOutput.write(line + "\n") }

    /// Prints a line to standard error.
    static func error(_ line: String) {
        DescriptorOutput.write(line + "\n", to: STDERR_FILENO)
    }
}

/// Facts about this machine.
enum Machine {
    /// The host name; `nil` if a certificate could not contain it.
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
    /// All environment variables.
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
    /// Waits for a signal. Returns `nil` if none arrives in time.
    borrowing func wait(milliseconds: Int64) -> ServerSignal? {
        if let signal = next() { return signal }
        var poller = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&poller, 1, Int32(clamping: milliseconds))
        return next()
    }
}

/// Helpers for threads of the control plane.
enum Threads {
    /// Starts a detached thread.
    static func start(name: String, _ body: sending @escaping () -> Void) throws(TransportError) {
        try Thread(name: name, body).detach()
    }

    /// Blocks the current thread, which must not be a reactor.
    static func sleep(milliseconds: Int64) { usleep(UInt32(clamping: milliseconds * 1_000)) }
}

/// The arguments of the process.
public enum ProcessArguments {
    /// The argument vector from the kernel, starting with the program's name; may be empty.
    public static var vector: [String] {
        (0..<clinux_argument_count()).map { at in
            unsafe clinux_argument(at).map { unsafe String(cString: $0) } ?? ""
        }
    }
}
