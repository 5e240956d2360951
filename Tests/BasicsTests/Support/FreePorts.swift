import Glibc
import Synchronization

/// Ports for servers that cannot choose their own, or that must have the same one after a restart.
public enum FreePorts {
    /// Below the ports that Linux gives to connections and to servers that ask for any (32768 and up), so that none of these takes one.
    private static let range: Range<UInt16> = 20_000..<32_000

    /// The port that is tried next. Another run of the tests on this machine most likely begins elsewhere.
    private static let next = Mutex(UInt16.random(in: range))

    /// Too few ports of the range are free.
    public struct Exhausted: Error {}

    /// Returns ports that nothing listens on at `127.0.0.1`.
    ///
    /// Each is given out once until all others were: tests that run at the same time never get the same one, although minutes may pass
    /// before they listen.
    public static func take(_ count: Int) throws(Exhausted) -> [UInt16] {
        try next.withLock { next throws(Exhausted) in
            var ports: [UInt16] = []
            for _ in range where ports.count < count {
                if isFree(next) { ports.append(next) }
                next = next + 1 < range.upperBound ? next + 1 : range.lowerBound
            }
            guard ports.count == count else { throw Exhausted() }
            return ports
        }
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
