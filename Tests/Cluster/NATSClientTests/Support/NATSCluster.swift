import BasicsSupport

/// Three nats-servers that form a cluster.
///
/// Clients that give no user have JetStream; the user `admin` with the password `admin` is that of the system account.
public final class NATSCluster {
    /// Where the servers run.
    public enum Place {
        /// On loopback; clients reach them at an address of this machine.
        case loopback(address: String)
        /// On loopback, with relays between them, so that routes can be cut.
        case relayed
        /// Each with an address of its own, started by a command of its own.
        case machines([(address: String, launcher: [String])])
    }

    /// The servers, named `n1` to `n3`; one that replaces another has a name of its own.
    public private(set) var servers: [NATSServerProcess]
    /// The relays of their routes, if the routes can be cut.
    public let relays: RouteRelays?
    private let place: Place
    /// The ports for clients and for routes.
    private let ports: [UInt16]
    private let routePorts: [UInt16]
    private var replacements = 0

    /// Starts the servers.
    public init(_ place: Place = .loopback(address: "127.0.0.1")) throws {
        let free = try FreePorts.take(6)
        (ports, routePorts) = (Array(free[..<3]), Array(free[3...]))
        self.place = place
        relays = if case .relayed = place { try RouteRelays(to: routePorts) } else { nil }
        servers = []
        for at in 0..<3 { servers.append(try server(at, named: "n\(at + 1)")) }
        for server in servers { try server.start() }
    }

    deinit { relays?.end() }

    private func server(_ at: Int, named name: String) throws -> NATSServerProcess {
        var (address, routeAddresses) = ("127.0.0.1", Array(repeating: "127.0.0.1", count: 3))
        var (advertised, launcher): (String, [String]) = ("", [])
        switch place {
        case .loopback(let own): address = own
        // Other servers are not to find a way beside the relays.
        case .relayed: advertised = ", advertise: \"127.0.0.1:1\""
        case .machines(let machines):
            (address, launcher) = machines[at]
            routeAddresses = machines.map(\.address)
        }
        let direct = zip(routeAddresses, routePorts).map { "\"nats://\($0):\($1)\"" }
        let routes = (relays?.routes(of: at) ?? direct).joined(separator: ", ")
        let listen = "listen: \"\(routeAddresses[at]):\(routePorts[at])\"\(advertised)"
        return try NATSServerProcess(
            """
            cluster { name: tests, \(listen), routes: [\(routes)] }
            accounts {
              CCS { jetstream: enabled, users: [ { user: ccs, password: ccs } ] }
              SYS { users: [ { user: admin, password: admin } ] }
            }
            system_account: SYS
            no_auth_user: ccs
            """, name: name, address: address, port: ports[at], isIdle: true, launcher: launcher)
    }

    /// Kills a server and loses its disk; an empty one with another name takes its addresses. Returns that one.
    @discardableResult
    public func replace(_ at: Int) throws -> NATSServerProcess {
        servers[at].kill()
        replacements += 1
        servers[at] = try server(at, named: "n\(at + 1)-\(replacements)")
        try servers[at].start()
        return servers[at]
    }

    /// The server of a name.
    public subscript(name: String) -> NATSServerProcess? { servers.first { $0.name == name } }
}
