import Basics
import Catalogue
import Glibc
import Operator
import Transport

extension ConfigCheck {
    /// Checks that the path of the control socket is short enough, can be created, and is not in use by another process.
    mutating func checkControlSocket() {
        guard isUsable(.controlSocket), isUsable(.dataDirectory) else { return }
        let path = configuration.controlSocket
        // The length of the default path depends on data_directory, so a mistake is reported there.
        let key: ConfigKey =
            locations[.controlSocket] == nil && locations[.dataDirectory] != nil
            ? .dataDirectory : .controlSocket
        guard path.utf8.count <= Limits.Config.socketPathBytes else {
            return add(
                .error, key, "the control socket \(path) has \(path.utf8.count) bytes",
                "the kernel allows at most \(Limits.Config.socketPathBytes): set a shorter path with control_socket"
            )
        }
        checkFolder(of: path, key)
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            return add(
                .error, key, "\(path) exists and is not a socket",
                "move it away, or set another path")
        }
        if let running, running.isAt(path) {
            return add(.note, key, "the running ccsd (process \(running.process)) answers at \(path)")
        }
        switch DetectedDaemon.look(at: path) {
        case .nobody: break
        case .forbidden:
            add(
                .error, key, "the socket at \(path) is not accessible to this user",
                "run the check as the user that runs ccsd")
        case .stranger:
            add(
                .error, key, "another process answers at \(path)", "stop it, or set another path")
        case .daemon(let other):
            add(
                .error, key,
                "another ccsd (process \(other.process), store \(other.store)) answers at \(path)",
                "stop it, or set another path")
        }
    }

    private mutating func checkFolder(of path: String, _ key: ConfigKey) {
        let folder = Self.parent(of: path)
        // The data directory has its own check, and may not have been created yet.
        guard folder != configuration.dataDirectory else { return }
        var status = stat()
        guard unsafe stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return add(
                .error, key, "the folder \(folder) of the control socket is missing",
                "create it, owned by the user that runs ccsd")
        }
        guard unsafe access(folder, W_OK | X_OK) == 0 else {
            return add(
                .error, key, "the control socket cannot be created in \(folder): \(Self.reason)",
                "let the user that runs ccsd write there")
        }
    }

    /// Checks that each port is free, or in use by the daemon that runs with this configuration.
    mutating func checkPorts() {
        var missing: Set<ConfigKey> = []
        let ports: [(key: ConfigKey, host: String, port: Int)] = [
            (.appServerPort, configuration.listenAddress, configuration.appServerPort),
            (
                .appServerPreproductionPort, configuration.listenAddress,
                configuration.appServerPreproductionPort
            ),
            (.devicePort, configuration.listenAddress, configuration.devicePort),
            (.httpsPort, configuration.listenAddress, configuration.httpsPort),
            (.adminPort, configuration.adminAddress, configuration.adminPort ?? 0),
        ]
        for (key, host, port) in ports where port != 0 && isUsable(key) {
            let addressKey: ConfigKey = key == .adminPort ? .adminAddress : .listenAddress
            guard isUsable(addressKey) else { continue }
            guard let address = SocketAddress(literal: host, port: UInt16(clamping: port)) else { continue }
            if let running, running.ports.contains(port) {
                add(.note, key, "port \(port) is in use by the running ccsd (process \(running.process))")
                continue
            }
            do throws(TransportError) { try ListeningSocket.checkFree(address) } catch {
                if error.code == EADDRNOTAVAIL || error.code == EAFNOSUPPORT {
                    guard missing.insert(addressKey).inserted else { continue }
                    add(
                        .error, addressKey, "\(host) is not an address of this machine",
                        "the command ip address shows the addresses; 127.0.0.1 is loopback, :: is all addresses"
                    )
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
                    "port \(port) is in use by systemd, which passes it on if a socket unit of ccsd has it")
            case .root:
                add(
                    .warning, key, "port \(port) is in use by a process of root",
                    "this is correct if it is systemd with ccsd.socket, which systemctl list-sockets shows")
            case .user, .unknown:
                guard DetectedDaemon.look(at: DetectedDaemon.serviceSocket) != .forbidden else {
                    return add(
                        .warning, key,
                        "port \(port) is in use by another process, which may be the service: this user may not ask it",
                        "run the check as root")
                }
                add(
                    .error, key, "port \(port) is in use by another process",
                    "ss -ltnp 'sport = :\(port)' shows the process: stop it, or set another port")
            }
        case EACCES, EPERM:
            add(
                .error, key, "this user is not permitted to listen on port \(port)",
                "ports below 1024 need CAP_NET_BIND_SERVICE, or a socket unit of systemd")
        default: add(.error, key, error.description, "set another port, or another listen_address")
        }
    }
}
