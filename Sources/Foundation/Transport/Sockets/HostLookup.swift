import CLinux
import Glibc

/// Lookup of host names in the system's name services.
public enum HostLookup {
    /// Returns the addresses of a host name or address literal, in the order of the system's preference; blocks during the lookup.
    public static func addresses(of host: String, port: UInt16) throws(TransportError) -> [SocketAddress] {
        if let literal = SocketAddress(literal: host, port: port) { return [literal] }
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, nil, &hints, &list)
        defer { unsafe freeaddrinfo(list) }
        guard code == 0 else {
            throw TransportError(
                "find \(host)", detail: unsafe String(cString: gai_strerror(code)), code: code)
        }
        var found: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next?.pointee {
            unsafe next = unsafe entry.ai_next
            guard let form = unsafe entry.ai_addr else { continue }
            let address = unsafe SocketAddress(copying: form, length: entry.ai_addrlen).with(port: port)
            if let address, !found.contains(address) { found.append(address) }
        }
        guard !found.isEmpty else {
            throw TransportError("find \(host)", detail: "unsupported address family")
        }
        return found
    }
}

extension SocketAddress {
    /// The address with another port. Returns `nil` for a path.
    func with(port: UInt16) -> SocketAddress? {
        switch self {
        case .ipv4(let number, _): .ipv4(number, port: port)
        case .ipv6(let upper, let lower, let zone, _): .ipv6(upper, lower, zone: zone, port: port)
        case .unix: nil
        }
    }
}
