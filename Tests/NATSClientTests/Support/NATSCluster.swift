import BasicsSupport

/// Three nats-servers on loopback that form a cluster.
public final class NATSCluster {
    /// The servers, named `n1` to `n3`.
    public let servers: [NATSServerProcess]

    /// Starts the servers, which listen for clients on an address of this machine.
    public init(address: String = "127.0.0.1") throws {
        let ports = try FreePorts.take(6)
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
}
