import Basics
import Catalogue
import Delivery
import Sessions
import Transport
import Wire

/// The listening sockets of the daemon, opened before the start is reported, so that a port in use fails the start.
struct OpenSockets: ~Copyable {
    /// One socket per kind and reactor, in the order of the reactors.
    fileprivate var sockets: [(kind: Link.Kind, reactor: Int, socket: SocketBox)] = []
    /// Their actual addresses.
    var listeners: [Daemon.BoundListener] = []
}

/// Boxes a non-copyable socket, so that it can be in an array.
private final class SocketBox {
    private var socket: ListeningSocket?
    init(_ socket: consuming ListeningSocket) { self.socket = consume socket }
    func take() -> ListeningSocket? { socket.take() }
}

extension Startup {
    /// Opens every listener on every reactor, or takes over those that systemd has opened.
    func openSockets() throws(StartupFailure) -> OpenSockets {
        var opened = OpenSockets()
        let inherited = inheritedSockets()
        let ports: [(Link.Kind, Int?)] = [
            (.appServer, configuration.appServerPort),
            (.appServerPreproduction, configuration.appServerPreproductionPort),
            (.device, configuration.devicePort), (.https, configuration.httpsPort),
            (.admin, configuration.adminPort),
        ]
        for (kind, port) in ports {
            guard let port else { continue }
            let host = kind == .admin ? configuration.adminAddress : configuration.listenAddress
            do {
                let given = inherited.filter { $0.kind == kind }
                for entry in given { try open(kind, inherited: entry.socket, &opened) }
                if given.isEmpty { try open(kind, host: host, port: port, &opened) }
            } catch {
                throw StartupFailure(
                    text: error.description,
                    hint:
                        "another process may use the port; \(kind.rawValue)_port changes it, and 0 picks a free one",
                    exitCode: error.exitCode)
            }
        }
        try openControl(&opened)
        try checkAdminListeners(opened)
        try requireLoopback(opened.listeners)
        return opened
    }

    /// Throws if a socket unit lets other machines reach the admin listener although the configuration does not.
    private func checkAdminListeners(_ opened: borrowing OpenSockets) throws(StartupFailure) {
        guard let problem = configuration.adminReachProblem else { return }
        for listener in opened.listeners where listener.name == Link.Kind.admin.rawValue {
            let address = SocketAddress(literal: listener.host, port: UInt16(clamping: listener.port))
            guard address?.isLoopback == false else { continue }
            throw StartupFailure(
                text: "the admin socket listens on \(listener.host), outside of loopback, \(problem.text)",
                hint: "\(problem.hint), or let the socket unit listen on 127.0.0.1",
                exitCode: .configuration)
        }
    }

    private func open(_ kind: Link.Kind, host: String, port: Int, _ opened: inout OpenSockets)
        throws(TransportError)
    {
        guard let wanted = SocketAddress(literal: host, port: UInt16(clamping: port)) else {
            throw TransportError("listen on \(host)", detail: "not an IPv4 or IPv6 address")
        }
        if port != 0 { try ListeningSocket.checkFree(wanted) }
        let first = try ListeningSocket(tcp: wanted)
        let address = first.address
        add(kind, address, first, reactor: 0, &opened)
        for reactor in 1..<max(1, configuration.reactorCount) {
            add(kind, address, try ListeningSocket(tcp: address), reactor: reactor, &opened)
        }
    }

    /// Returns the sockets passed by systemd, identified by name, or by port if one unit gives all the same name.
    private func inheritedSockets() -> [(kind: Link.Kind, socket: SocketBox)] {
        var found: [(kind: Link.Kind, socket: SocketBox)] = []
        for entry in InheritedSockets.take() {
            do throws(TransportError) {
                let socket = try ListeningSocket(inherited: Descriptor(owning: entry.descriptor))
                let port = Int(socket.address.port)
                guard let kind = Link.Kind(rawValue: entry.name) ?? kind(of: port) else {
                    log.warning(
                        "inherited_socket_ignored", ["name": .text(entry.name), "port": LogValue(port)])
                    continue
                }
                found.append((kind, SocketBox(socket)))
            } catch {
                log.warning(
                    "inherited_socket_ignored",
                    ["name": .text(entry.name), "problem": .text(error.description)])
            }
        }
        return found
    }

    /// Returns the listener of a port; 443 is always HTTPS, since clients connect there.
    private func kind(of port: Int) -> Link.Kind? {
        switch port {
        case configuration.appServerPort: .appServer
        case configuration.appServerPreproductionPort: .appServerPreproduction
        case configuration.devicePort: .device
        case configuration.httpsPort, 443: .https
        default: nil
        }
    }

    private func open(_ kind: Link.Kind, inherited box: SocketBox, _ opened: inout OpenSockets)
        throws(TransportError)
    {
        guard let first = box.take() else { return }
        for reactor in 1..<max(1, configuration.reactorCount) {
            add(kind, first.address, try first.duplicated(), reactor: reactor, &opened)
        }
        let address = first.address
        add(kind, address, first, reactor: 0, &opened)
    }

    private func add(
        _ kind: Link.Kind, _ address: SocketAddress, _ socket: consuming ListeningSocket, reactor: Int,
        _ opened: inout OpenSockets
    ) {
        opened.sockets.append((kind, reactor, SocketBox(socket)))
        guard reactor == 0 else { return }
        opened.listeners.append(.init(name: kind.rawValue, host: address.host, port: Int(address.port)))
    }

    private func openControl(_ opened: inout OpenSockets) throws(StartupFailure) {
        let path = configuration.controlSocket
        do {
            let socket = try ListeningSocket(unixPath: path)
            opened.sockets.append((.control, 0, SocketBox(socket)))
            opened.listeners.append(.init(name: Link.Kind.control.rawValue, host: path, port: 0))
        } catch {
            throw StartupFailure(
                text: error.description, hint: "name another path with --control-socket",
                exitCode: path.utf8.count > Limits.Config.socketPathBytes ? .configuration : error.exitCode)
        }
    }

    /// Starts to accept connections on every socket.
    func listen(_ opened: consuming OpenSockets, _ hosts: [ReactorHost], _ daemon: Daemon)
        throws(StartupFailure)
    {
        let control = ControlServer(daemon: daemon)
        defer { for host in hosts { host.changeAdmission(configuration.admission) } }
        for entry in opened.sockets {
            guard let socket = entry.socket.take() else { continue }
            let host = hosts[entry.reactor]
            let kind = entry.kind
            do {
                try host.reactor.listen(
                    on: socket, name: ListenerName(rawValue: kind.rawValue),
                    tls: tls(of: kind, daemon.certificates),
                    pace: pace(of: kind), plainAnswer: plainAnswer(of: kind, host)
                ) { [unowned host] connection in
                    host.welcome(connection, kind: kind, daemon: daemon, control: control)
                }
            } catch {
                throw StartupFailure(
                    text: error.description, hint: "the error text is that of the system",
                    exitCode: error.exitCode)
            }
        }
    }

    private func tls(of kind: Link.Kind, _ certificates: Certificates) -> TLSContextHolder? {
        switch kind {
        case .control: nil
        case .admin: configuration.adminTLS ? certificates.holder : nil
        case .https: certificates.webHolder
        case .appServer, .appServerPreproduction, .device: certificates.holder
        }
    }

    /// Returns the answer to clients without TLS: ports for HTTP name the URL with https.
    private func plainAnswer(of kind: Link.Kind, _ host: ReactorHost) -> PlainAnswer? {
        guard kind == .https || kind == .admin else { return nil }
        return { [unowned host] first in
            PlainHTTPAnswer.answer(to: first, at: host.reactor.now.wall)
        }
    }

    private func pace(of kind: Link.Kind) -> PaceSettings {
        var pace = PaceSettings()
        if kind == .control { pace.connections = Limits.Operator.connections }
        if kind == .admin, configuration.operatorAPI { pace.outboundBytes = Limits.OperatorAPI.outboundBytes }
        pace.joinsRecords = true
        return pace
    }
}

extension ReactorHost {
    /// Creates the session of a new connection.
    func welcome(_ connection: Connection, kind: Link.Kind, daemon: Daemon, control: ControlServer) -> Link {
        let settings = daemon.sessionSettings
        let link: Link
        switch kind {
        case .appServer, .appServerPreproduction:
            link = SessionLink(
                kind: kind, connection: connection, host: self,
                session: AppServerSession(
                    connection: connection.id, settings: settings, now: reactor.now,
                    channelBinding: { [unowned connection] in connection.channelBinding }))
        case .device:
            link = SessionLink(
                kind: kind, connection: connection, host: self,
                session: DeviceSession(connection: connection.id, settings: settings, now: reactor.now))
        case .https:
            link = HTTPLink(
                kind: kind, connection: connection, host: self, daemon: daemon,
                session: HTTPSession(connection: connection.id, settings: settings, now: reactor.now))
        case .admin:
            link = OperatorLink(connection: connection, host: self, control: control, settings: settings)
        case .control: link = ControlLink(connection: connection, host: self, control: control)
        }
        opened(link)
        return link
    }
}
