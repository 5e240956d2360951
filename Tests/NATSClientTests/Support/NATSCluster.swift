import Foundation

/// Three nats-servers on loopback that form a cluster.
public final class NATSCluster {
    /// The servers, named `n1` to `n3`.
    public let servers: [NATSServerProcess]

    /// Starts the servers, which listen for clients on an address of this machine.
    public init(address: String = "127.0.0.1") throws {
        let ports = try Self.freePorts(6)
        let routes = ports[3...].map { "\"nats://127.0.0.1:\($0)\"" }.joined(separator: ", ")
        servers = try (0..<3).map { at in
            try NATSServerProcess(
                "cluster { name: tests, listen: \"127.0.0.1:\(ports[3 + at])\", routes: [\(routes)] }",
                name: "n\(at + 1)", address: address, port: ports[at], isIdle: true)
        }
        for server in servers { try server.start() }
    }

    /// The server of a name.
    public subscript(name: String) -> NATSServerProcess? { servers.first { $0.name == name } }

    /// Ports that nothing listens on at the moment. They are below those that the system gives to connections, so that they are still
    /// free when a server starts again.
    public static func freePorts(_ count: Int) throws -> [UInt16] {
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        var ports: [UInt16] = []
        for _ in 0..<1_000 where ports.count < count {
            let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            sockets.append(number)
            let port = UInt16.random(in: 20_000..<32_000)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let isBound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            if isBound { ports.append(port) }
        }
        guard ports.count == count else { throw NATSServerProcess.Failure("no free ports") }
        return ports
    }
}
