import BasicsSupport
import Foundation

/// Relays on loopback between each two of some nats-servers, so that a server can be cut off from the others while clients reach it.
///
/// What is sent while a relay is cut waits, as packets of TCP do that are sent again and again.
public final class RouteRelays: @unchecked Sendable {
    /// Guards the state below; signalled when a server is cut off or healed.
    private let condition = NSCondition()
    private var cut: Set<Int> = []
    private var isOver = false
    private var sockets: Set<Int32> = []
    /// The listening ports: the first index is the server that connects, the second one the server that is connected to.
    private let ports: [[UInt16]]

    /// Listens for all pairs of servers, whose routes are at these ports.
    public init(to targets: [UInt16]) throws {
        var listeners: [(descriptor: Int32, from: Int, to: Int)] = []
        ports = try targets.indices.map { from in
            try targets.indices.map { to in
                guard from != to else { return 0 }
                let (descriptor, port) = try Self.listen()
                listeners.append((descriptor, from, to))
                return port
            }
        }
        sockets = Set(listeners.map(\.descriptor))
        for listener in listeners {
            Thread.detachNewThread { [self] in
                accept(listener.descriptor, from: listener.from, to: listener.to, at: targets[listener.to])
            }
        }
    }

    /// The routes of a server: the relays to all others.
    public func routes(of server: Int) -> [String] {
        ports[server].filter { $0 != 0 }.map { "\"nats://127.0.0.1:\($0)\"" }
    }

    /// Cuts a server off from all others.
    public func cut(_ server: Int) { change { cut.insert(server) } }

    /// Lets a server reach the others again.
    public func heal(_ server: Int) { change { cut.remove(server) } }

    /// Ends all relays.
    public func end() {
        change {
            isOver = true
            for descriptor in sockets { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    private func change(_ body: () -> Void) {
        condition.lock()
        body()
        condition.broadcast()
        condition.unlock()
    }

    private static func listen() throws -> (Int32, UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound, Glibc.listen(descriptor, 16) == 0 else {
            throw NATSServerProcess.Failure("a relay cannot listen: \(String(cString: strerror(errno)))")
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private func accept(_ listener: Int32, from: Int, to: Int, at port: UInt16) {
        while true {
            let inner = Glibc.accept(listener, nil, nil)
            guard inner >= 0 else { return close(listener) }
            let outer = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = Self.loopback(port)
            let isConnected = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(outer, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isConnected, note(inner, outer) else {
                _ = Glibc.close(inner)
                _ = Glibc.close(outer)
                continue
            }
            let pair = Pair(inner, outer) { [self] in close($0) }
            Thread.detachNewThread { [self] in pump(inner, outer, pair, [from, to]) }
            Thread.detachNewThread { [self] in pump(outer, inner, pair, [from, to]) }
        }
    }

    /// Notes the sockets of a connection. Returns false at the end.
    private func note(_ inner: Int32, _ outer: Int32) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !isOver else { return false }
        sockets.formUnion([inner, outer])
        return true
    }

    private func close(_ descriptor: Int32) {
        condition.lock()
        sockets.remove(descriptor)
        _ = Glibc.close(descriptor)
        condition.unlock()
    }

    /// Two sockets that are closed when the last pump has ended.
    private final class Pair: @unchecked Sendable {
        let close: (Int32) -> Void
        let sockets: [Int32]
        init(_ inner: Int32, _ outer: Int32, close: @escaping (Int32) -> Void) {
            (sockets, self.close) = ([inner, outer], close)
        }
        deinit { for socket in sockets { close(socket) } }
    }

    private func pump(_ source: Int32, _ target: Int32, _ pair: Pair, _ servers: [Int]) {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        transfer: while true {
            let count = read(source, &chunk, chunk.count)
            guard count > 0, waitUntilHealed(servers) else { break }
            var sent = 0
            while sent < count {
                let written = chunk[sent..<count].withUnsafeBytes {
                    send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else { break transfer }
                sent += written
            }
        }
        for socket in pair.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    /// Waits while one of the servers is cut off. Returns false at the end.
    private func waitUntilHealed(_ servers: [Int]) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while !isOver, servers.contains(where: { cut.contains($0) }) { condition.wait() }
        return !isOver
    }
}
