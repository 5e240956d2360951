import CLinux
import Glibc

/// The address of a socket or its peer: an IP address with a port, or a path in the file system.
public enum SocketAddress: Hashable, Sendable {
    /// IPv4: the address in host byte order, and the port.
    case ipv4(UInt32, port: UInt16)
    /// IPv6: the upper and the lower half in host byte order, the zone of a link-local address, and the port.
    case ipv6(UInt64, UInt64, zone: UInt32, port: UInt16)
    /// A UNIX-domain socket; the path is empty for an unnamed peer, and starts with `@` for an abstract name.
    case unix(path: String)

    /// IPv4 loopback.
    public static func loopback(port: UInt16) -> SocketAddress { .ipv4(0x7f00_0001, port: port) }

    /// Parses an IPv4 or IPv6 literal. Returns `nil` for a host name or anything else.
    public init?(literal: String, port: UInt16) {
        var four = in_addr()
        if unsafe inet_pton(AF_INET, literal, &four) == 1 {
            self = .ipv4(UInt32(bigEndian: four.s_addr), port: port)
            return
        }
        var halves: (UInt64, UInt64) = (0, 0)
        guard unsafe inet_pton(AF_INET6, literal, &halves) == 1 else { return nil }
        self = .ipv6(
            UInt64(bigEndian: halves.0), UInt64(bigEndian: halves.1), zone: 0, port: port)
    }

    /// The port; 0 for a UNIX-domain socket.
    public var port: UInt16 {
        switch self {
        case .ipv4(_, let port), .ipv6(_, _, _, let port): port
        case .unix: 0
        }
    }

    /// The address without port in its usual notation: `127.0.0.1`, `::1`, the path, or `unix` for an unnamed peer.
    public var host: String {
        switch self {
        case .ipv4(let number, _):
            return (0..<4).reversed().map { String((number >> ($0 * 8)) & 255) }.joined(separator: ".")
        case .ipv6(let upper, let lower, _, _):
            var halves = (upper.bigEndian, lower.bigEndian)
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            guard unsafe inet_ntop(AF_INET6, &halves, &text, socklen_t(text.count)) != nil else {
                return "::"
            }
            return String(
                decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        case .unix(let path): return path.isEmpty ? "unix" : path
        }
    }
}

extension SocketAddress: CustomStringConvertible {
    /// `127.0.0.1:5235`, `[::1]:5235`, or the path.
    public var description: String {
        switch self {
        case .ipv4(_, let port): "\(host):\(port)"
        case .ipv6(_, _, _, let port): "[\(host)]:\(port)"
        case .unix: host
        }
    }
}

extension SocketAddress {
    /// The address family for `socket`.
    var family: Int32 {
        switch self {
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        case .unix: AF_UNIX
        }
    }

    /// Calls `body` with the address in the kernel's format. Returns `nil` if a path is too long for it.
    func withSocketAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R? {
        switch self {
        case .ipv4(let number, let port):
            var form = sockaddr_in()
            form.sin_family = sa_family_t(AF_INET)
            form.sin_port = port.bigEndian
            form.sin_addr.s_addr = number.bigEndian
            return unsafe Self.lend(&form, MemoryLayout<sockaddr_in>.size, body)
        case .ipv6(let upper, let lower, let zone, let port):
            var form = sockaddr_in6()
            form.sin6_family = sa_family_t(AF_INET6)
            form.sin6_port = port.bigEndian
            form.sin6_scope_id = zone
            unsafe withUnsafeMutableBytes(of: &form.sin6_addr) { bytes in
                unsafe bytes.storeBytes(of: upper.bigEndian, as: UInt64.self)
                unsafe bytes.storeBytes(of: lower.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            return unsafe Self.lend(&form, MemoryLayout<sockaddr_in6>.size, body)
        case .unix(let path):
            var form = sockaddr_un()
            form.sun_family = sa_family_t(AF_UNIX)
            var name = Array(path.utf8)
            let isAbstract = name.first == UInt8(ascii: "@")
            if isAbstract { name[0] = 0 } else { name.append(0) }
            let room = MemoryLayout.size(ofValue: form.sun_path)
            guard name.count <= room, name.count > 1 else { return nil }
            unsafe withUnsafeMutableBytes(of: &form.sun_path) { unsafe $0.copyBytes(from: name) }
            return unsafe Self.lend(&form, MemoryLayout<sa_family_t>.size + name.count, body)
        }
    }

    private static func lend<Form, R>(
        _ form: inout Form, _ length: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
    ) -> R {
        unsafe withUnsafePointer(to: &form) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(length))
            }
        }
    }

    /// Lets `fill` write the kernel's format (`accept`, `getsockname`), and parses it.
    static func filled(by fill: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32)
        -> (result: Int32, address: SocketAddress)
    {
        var form = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutablePointer(to: &form) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe fill($0, &length) }
        }
        guard result >= 0 else { return (result, .unix(path: "")) }
        return unsafe withUnsafeBytes(of: &form) { (result, unsafe Self(bytes: $0.prefix(Int(length)))) }
    }

    /// Parses the kernel's format, such as the result of a name lookup.
    init(copying form: UnsafePointer<sockaddr>, length: socklen_t) {
        let bytes = unsafe UnsafeRawBufferPointer(start: form, count: Int(length))
        unsafe self.init(bytes: bytes[...])
    }

    private init(bytes: Slice<UnsafeRawBufferPointer>) {
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: bytes)
        let family = unsafe bytes.count >= 2 ? Int32(bytes.load(as: sa_family_t.self)) : 0
        if family == AF_INET, bytes.count >= MemoryLayout<sockaddr_in>.size {
            let form = unsafe bytes.load(as: sockaddr_in.self)
            self = .ipv4(UInt32(bigEndian: form.sin_addr.s_addr), port: UInt16(bigEndian: form.sin_port))
        } else if family == AF_INET6, bytes.count >= MemoryLayout<sockaddr_in6>.size {
            let form = unsafe bytes.load(as: sockaddr_in6.self)
            let upper = unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            let lower = unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
            // An IPv4 peer of a listener on `::` must count and appear as an IPv4 address.
            self = .ipv6OrMapped(
                upper, lower, zone: form.sin6_scope_id, port: UInt16(bigEndian: form.sin6_port))
        } else {
            var name = unsafe [UInt8](bytes.dropFirst(MemoryLayout<sa_family_t>.size))
            if name.first == 0, name.count > 1 {
                name[0] = UInt8(ascii: "@")
            } else {
                name = Array(name.prefix { $0 != 0 })
            }
            self = .unix(path: String(decoding: name, as: UTF8.self))
        }
    }
}
