import Basics

/// The kinds of addresses that a webhook does not connect to, so that an endpoint's name cannot lead into the operator's network.
public enum AddressClass: String, Sendable, CaseIterable {
    case loopback = "a loopback address"
    case privateNetwork = "a private address"
    case linkLocal = "a link-local address"
    case multicast = "a multicast address"
    case reserved = "a reserved address"

    /// Returns the class of an IPv4 address of 4 bytes or an IPv6 address of 16. Returns `nil` for a public one.
    public init?(_ address: [UInt8]) {
        switch address.count {
        case 4: self.init(v4: address)
        case 16: self.init(v6: address)
        default: self = .reserved
        }
    }

    private init?(v4 a: [UInt8]) {
        switch (a[0], a[1], a[2]) {
        case (127, _, _): self = .loopback
        case (10, _, _), (172, 16...31, _), (192, 168, _), (100, 64...127, _): self = .privateNetwork
        case (169, 254, _): self = .linkLocal
        case (224...239, _, _): self = .multicast
        case (0, _, _), (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 18...19, _), (198, 51, 100),
            (203, 0, 113), (240..., _, _):
            self = .reserved
        default: return nil
        }
    }

    private init?(v6 a: [UInt8]) {
        let embedded = Array(a[12...])
        if a[..<15].allSatisfy({ $0 == 0 }), a[15] == 1 {
            self = .loopback
        } else if a[..<10].allSatisfy({ $0 == 0 }), a[10] == 0xFF, a[11] == 0xFF {
            // IPv4-mapped: the IPv4 address decides.
            self.init(v4: embedded)
        } else if a[..<12].elementsEqual([0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
            // NAT64: how a network without IPv4 reaches that.
            self.init(v4: embedded)
        } else if a[0] & 0xFE == 0xFC {
            self = .privateNetwork
        } else if a[0] == 0xFE, a[1] & 0xC0 == 0x80 {
            self = .linkLocal
        } else if a[0] == 0xFE, a[1] & 0xC0 == 0xC0 {
            self = .privateNetwork
        } else if a[0] == 0xFF {
            self = .multicast
        } else if a[0] & 0xE0 != 0x20 || a[0] == 0x20 && a[1] == 0x01 && a[2] < 2
            || a[..<4].elementsEqual([0x20, 0x01, 0x0D, 0xB8]) || a[0] == 0x20 && a[1] == 0x02
            || a[0] == 0x3F && a[1] == 0xFF && a[2] & 0xF0 == 0
        {
            // Outside of what is assigned, tunnels (2002::/16 has an IPv4 address in it), and documentation.
            self = .reserved
        } else {
            return nil
        }
    }

    /// Returns what is wrong with a host that is an address; `nil` for names and public addresses.
    static func problem(ofLiteral host: Substring) -> String? {
        if host == "localhost" { return "localhost is \(Self.loopback.rawValue)" }
        guard let address = ipv4(host) ?? ipv6(host) else { return nil }
        return AddressClass(address).map { "\(host) is \($0.rawValue)" }
    }

    /// Returns whether a host is `localhost` or a literal address of loopback.
    static func isLoopback(_ host: Substring) -> Bool {
        if host == "localhost" { return true }
        return (ipv4(host) ?? ipv6(host)).map { AddressClass($0) == .loopback } ?? false
    }

    /// Returns the bytes of an IPv4 address in dotted decimal form. Returns `nil` for anything else.
    static func ipv4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let bytes = parts.compactMap { part in
            part.utf8.count <= 3 && (part.utf8.count == 1 || part.first != "0")
                && part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt8(part) : nil
        }
        return bytes.count == 4 ? bytes : nil
    }

    static func isIPv6(_ text: Substring) -> Bool { ipv6(text) != nil }

    /// Returns the bytes of an IPv6 address (RFC 4291, 2.2) without a zone. Returns `nil` for anything else.
    static func ipv6(_ text: Substring) -> [UInt8]? {
        let halves = text.split(separator: "::", omittingEmptySubsequences: false)
        guard halves.count <= 2, let head = groups(halves[0], mayEndInIPv4: halves.count == 1) else {
            return nil
        }
        guard halves.count == 2 else { return head.count == 16 ? head : nil }
        guard let tail = groups(halves[1], mayEndInIPv4: true), head.count + tail.count <= 14 else {
            return nil
        }
        return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    private static func groups(_ text: Substring, mayEndInIPv4: Bool) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        var bytes: [UInt8] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (at, part) in parts.enumerated() {
            if mayEndInIPv4, at == parts.count - 1, let last = ipv4(part) {
                bytes += last
            } else if (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }),
                let group = UInt16(part, radix: 16)
            {
                bytes += [UInt8(group >> 8), UInt8(truncatingIfNeeded: group)]
            } else {
                return nil
            }
        }
        return bytes
    }
}
