import Glibc
import Synchronization

/// Ports for servers that cannot choose their own, or that must have the same one after a restart.
public enum FreePorts {
    /// Below the ports that Linux gives to connections and to servers that ask for any (32768 and up), so that none of these takes one.
    private static let range: Range<UInt16> = 20_000..<32_000

    /// The port that is tried next.
    private static let next = Mutex(UInt16.random(in: range))

    /// The file whose bytes stand for ports: who has the lock of a byte has that port until its process ends. All runs of the tests
    /// on this machine share it. -1 if it cannot be opened; a port is then as likely another process's as the range is large.
    private static let claims: Int32 = {
        let path = "/tmp/ccs-tests-ports"
        // Linux forbids O_CREAT for a file of another user in /tmp, so the file is opened without it first.
        let found = open(path, O_RDWR | O_CLOEXEC)
        guard found < 0 else { return found }
        let made = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
        if made >= 0 { fchmod(made, 0o666) }
        return made
    }()

    /// Too few ports of the range are free.
    public struct Exhausted: Error {}

    /// Returns ports that nothing listens on at `127.0.0.1`.
    ///
    /// Each is given out once until all others were: tests that run at the same time never get the same one, although minutes may pass
    /// before they listen, and also not if they run in another process.
    public static func take(_ count: Int) throws(Exhausted) -> [UInt16] {
        try next.withLock { next throws(Exhausted) in
            var ports: [UInt16] = []
            for _ in range where ports.count < count {
                if claim(next), isFree(next) { ports.append(next) }
                next = next + 1 < range.upperBound ? next + 1 : range.lowerBound
            }
            guard ports.count == count else { throw Exhausted() }
            return ports
        }
    }

    /// Returns whether no other process has a port.
    private static func claim(_ port: UInt16) -> Bool {
        guard claims >= 0 else { return true }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = Int(port)
        lock.l_len = 1
        return fcntl(claims, F_SETLK, &lock) == 0
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(number) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
