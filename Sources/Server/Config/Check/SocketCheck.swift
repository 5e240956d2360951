import Basics
import Catalogue
import Glibc
import Operator
import Transport

extension ConfigCheck {
    /// The control socket: its path is short enough, can be made, and no other process answers there.
    mutating func checkControlSocket() {
        guard isUsable(.controlSocket), isUsable(.dataDirectory) else { return }
        let path = configuration.controlSocket
        // A default path is as long as that of the data directory makes it.
        let key: ConfigKey =
            places[.controlSocket] == nil && places[.dataDirectory] != nil ? .dataDirectory : .controlSocket
        guard path.utf8.count <= Limits.Config.socketPathBytes else {
            return add(
                .error, key, "the control socket \(path) has \(path.utf8.count) bytes",
                "the kernel takes at most \(Limits.Config.socketPathBytes): name a shorter path with control_socket"
            )
        }
        checkFolder(of: path, key)
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            return add(
                .error, key, "something that is not a socket is at \(path)",
                "move it away, or name another path")
        }
        if let running, running.isAt(path) {
            return add(.note, key, "the running ccsd (process \(running.process)) answers at \(path)")
        }
        switch LivingDaemon.look(at: path) {
        case .nobody: break
        case .forbidden:
            add(
                .error, key, "the socket at \(path) may not be opened by this user",
                "run the check as the user that runs ccsd")
        case .stranger:
            add(
                .error, key, "another process answers at \(path)", "stop it, or name another path")
        case .daemon(let other):
            add(
                .error, key,
                "another ccsd (process \(other.process), store \(other.store)) answers at \(path)",
                "stop it, or name another path")
        }
    }

    private mutating func checkFolder(of path: String, _ key: ConfigKey) {
        let folder = Self.parent(of: path)
        // The data directory has a check of its own, and may still have to be made.
        guard folder != configuration.dataDirectory else { return }
        var status = stat()
        guard unsafe stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return add(
                .error, key, "the folder \(folder) of the control socket is missing",
                "make it, owned by the user that runs ccsd")
        }
        guard unsafe access(folder, W_OK | X_OK) == 0 else {
            return add(
                .error, key, "the control socket cannot be made in \(folder): \(Self.reason)",
                "let the user that runs ccsd write there")
        }
    }

    /// The ports: each can be listened on, or is held by the daemon that runs with this configuration.
    mutating func checkPorts() {
        guard isUsable(.listenAddress) else { return }
        var hasAddress = true
        let ports: [(key: ConfigKey, host: String, port: Int)] = [
            (.appServerPort, configuration.listenAddress, configuration.appServerPort),
            (
                .appServerPreproductionPort, configuration.listenAddress,
                configuration.appServerPreproductionPort
            ),
            (.devicePort, configuration.listenAddress, configuration.devicePort),
            (.httpsPort, configuration.listenAddress, configuration.httpsPort),
            (.adminPort, "127.0.0.1", configuration.adminPort ?? 0),
        ]
        for (key, host, port) in ports where port != 0 && isUsable(key) {
            guard let address = SocketAddress(literal: host, port: UInt16(clamping: port)) else { continue }
            if let running, running.ports.contains(port) {
                add(.note, key, "port \(port) is held by the running ccsd (process \(running.process))")
                continue
            }
            do throws(TransportError) { try ListeningSocket.checkFree(address) } catch {
                if key != .adminPort, error.code == EADDRNOTAVAIL || error.code == EAFNOSUPPORT {
                    guard hasAddress else { continue }
                    hasAddress = false
                    add(
                        .error, .listenAddress, "\(host) is not an address of this machine",
                        "ip address shows those it has; 127.0.0.1 is this machine alone, :: is everywhere")
                } else {
                    addTaken(key, address, error)
                }
            }
        }
    }

    private mutating func addTaken(_ key: ConfigKey, _ address: SocketAddress, _ error: TransportError) {
        let port = address.port
        switch error.code {
        case EADDRINUSE:
            switch PortHolder.of(port: port) {
            case .systemd:
                add(
                    .note, key,
                    "port \(port) is held by systemd, which hands it over if a socket unit of ccsd names it")
            case .root:
                add(
                    .warning, key, "port \(port) is held by a process of root",
                    "that is right if it is systemd with ccsd.socket: systemctl list-sockets shows it")
            case .user, .unknown:
                add(
                    .error, key, "port \(port) is in use by another process",
                    "ss -ltnp 'sport = :\(port)' shows it: stop it, or give another port")
            }
        case EACCES, EPERM:
            add(
                .error, key, "port \(port) may not be listened on by this user",
                "ports below 1024 need CAP_NET_BIND_SERVICE, or a socket unit of systemd")
        default: add(.error, key, error.description, "give another port, or another listen_address")
        }
    }
}
