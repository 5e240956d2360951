import Basics
import CLinux
import Glibc

/// A bound and listening socket with one owner.
public struct ListeningSocket: ~Copyable, Sendable {
    public let descriptor: Descriptor
    /// The address it listens on, with the actual port if port 0 was requested.
    public let address: SocketAddress

    private init(listening descriptor: consuming Descriptor, address: SocketAddress) {
        self.descriptor = descriptor
        self.address = address
    }

    /// Listens on an IP address; each reactor opens its own socket on the same port (SO_REUSEPORT).
    public init(tcp address: SocketAddress) throws(TransportError) {
        let socket = try Self.open(address)
        Self.set(socket, SOL_SOCKET, SO_REUSEADDR, 1)
        Self.set(socket, SOL_SOCKET, SO_REUSEPORT, 1)
        if case .ipv6(let upper, let lower, _, _) = address {
            // `::` accepts IPv4 as well, regardless of the machine's default.
            Self.set(socket, Int32(IPPROTO_IPV6), IPV6_V6ONLY, upper == 0 && lower == 0 ? 0 : 1)
        }
        try Self.bind(socket, to: address)
        try Self.listen(socket, at: address)
        try self.init(inherited: socket)
    }

    /// Throws if another process listens on an address: SO_REUSEPORT alone would let two servers share a port silently.
    public static func checkFree(_ address: SocketAddress) throws(TransportError) {
        let socket = try open(address)
        set(socket, SOL_SOCKET, SO_REUSEADDR, 1)
        try bind(socket, to: address)
    }

    /// Listens on a path that only the server's user may open; a stale socket without a listener is replaced.
    public init(unixPath path: String) throws(TransportError) {
        let address = SocketAddress.unix(path: path)
        let socket = try Self.open(address)
        try Self.removeStale(path)
        let mask = umask(0o177)
        defer { umask(mask) }
        try Self.bind(socket, to: address)
        try Self.listen(socket, at: address)
        self.init(listening: socket, address: address)
    }

    /// Takes ownership of a socket that is already bound and listening, such as one from systemd.
    public init(inherited descriptor: consuming Descriptor) throws(TransportError) {
        let number = descriptor.number
        let (result, address) = unsafe SocketAddress.filled { unsafe getsockname(number, $0, $1) }
        guard result == 0 else { throw SystemCall.failure("use descriptor \(number) as a listener") }
        let flags = fcntl(number, F_GETFL)
        guard flags >= 0, fcntl(number, F_SETFL, flags | O_NONBLOCK) == 0,
            fcntl(number, F_SETFD, FD_CLOEXEC) == 0
        else { throw SystemCall.failure("use descriptor \(number) as a listener") }
        if address.family != AF_UNIX { Self.setConnectionOptions(descriptor) }
        self.init(listening: descriptor, address: address)
    }

    /// Returns a second descriptor of the same socket, for another reactor.
    public func duplicated() throws(TransportError) -> ListeningSocket {
        let copy = fcntl(descriptor.number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw SystemCall.failure("duplicate the listener of \(address)") }
        return ListeningSocket(listening: Descriptor(owning: copy), address: address)
    }

    private static func open(_ address: SocketAddress) throws(TransportError) -> Descriptor {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let number = socket(address.family, kind, 0)
        guard number >= 0 else { throw SystemCall.failure("open a socket for \(address)") }
        return Descriptor(owning: number)
    }

    private static func bind(_ socket: borrowing Descriptor, to address: SocketAddress) throws(TransportError)
    {
        let number = socket.number
        let bound = unsafe address.withSocketAddress { unsafe Glibc.bind(number, $0, $1) }
        guard let bound else {
            throw TransportError("listen on \(address)", detail: "the path is too long for a socket")
        }
        guard bound == 0 else { throw SystemCall.failure("listen on \(address)") }
    }

    private static func listen(_ socket: borrowing Descriptor, at address: SocketAddress)
        throws(TransportError)
    {
        guard Glibc.listen(socket.number, Int32(Limits.Connection.acceptBacklog)) == 0 else {
            throw SystemCall.failure("listen on \(address)")
        }
    }

    /// Removes a socket file without a listener; anything else at the path is an error.
    private static func removeStale(_ path: String) throws(TransportError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw TransportError(
                "listen on \(path)", detail: "something that is not a socket is there", code: EEXIST)
        }
        let address = SocketAddress.unix(path: path)
        let probe = try open(address)
        let number = probe.number
        let result = unsafe address.withSocketAddress { unsafe Glibc.connect(number, $0, $1) }
        guard result != 0, errno == ECONNREFUSED else {
            throw TransportError(
                "listen on \(path)", detail: "another process answers there", code: EADDRINUSE)
        }
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
            throw SystemCall.failure("replace the stale socket \(path)")
        }
    }

    /// Sets options that Linux copies to accepted connections, which saves calls for each connection.
    private static func setConnectionOptions(_ socket: borrowing Descriptor) {
        setStreamOptions(socket.number)
    }

    /// Disables the delay of small writes, and detects dead peers without traffic.
    static func setStreamOptions(
        _ number: Int32, silenceSeconds: Int = Limits.Connection.peerSilenceSeconds
    ) {
        set(number, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        set(number, SOL_SOCKET, SO_KEEPALIVE, 1)
        set(number, Int32(IPPROTO_TCP), TCP_KEEPIDLE, Int32(Limits.Connection.tcpKeepaliveSeconds))
        set(number, Int32(IPPROTO_TCP), TCP_KEEPINTVL, Int32(silenceSeconds / 4))
        set(number, Int32(IPPROTO_TCP), TCP_KEEPCNT, 4)
        set(number, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, Int32(silenceSeconds * 1_000))
    }

    private static func set(_ socket: borrowing Descriptor, _ level: Int32, _ option: Int32, _ value: Int32) {
        set(socket.number, level, option, value)
    }

    private static func set(_ number: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        _ = unsafe setsockopt(number, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
