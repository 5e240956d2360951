/// An IPv4 or IPv6 network: an address and the length of its prefix in bits.
public struct AddressNetwork: Sendable, Hashable {
    private let upper: UInt64
    private let lower: UInt64
    /// Prefix length of 128 bits; an IPv4 network is part of `::ffff:0:0/96`.
    private let prefix: Int

    /// Parses `192.0.2.0/24`, `2001:db8::/32`, or an address alone; bits beyond the prefix are ignored.
    ///
    /// Returns `nil` for a host name or anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let isPlain = text.utf8.allSatisfy { byte in
            (0x30...0x3A).contains(byte) || (0x61...0x66).contains(byte | 0x20) || byte == 0x2E
                || byte == 0x2F
        }
        guard isPlain, let address = SocketAddress(literal: String(parts[0]), port: 0),
            let bits = address.bits
        else { return nil }
        var prefix = 128
        if parts.count == 2 {
            let isFour = if case .ipv4 = address { true } else { false }
            let digits = parts[1].utf8
            guard (1...3).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
                let length = Int(parts[1]), length <= (isFour ? 32 : 128)
            else { return nil }
            prefix = isFour ? length + 96 : length
        }
        self.prefix = prefix
        upper = bits.upper & Self.mask(prefix)
        lower = bits.lower & Self.mask(prefix - 64)
    }

    /// Returns whether an address is in the network; always false for a UNIX-domain socket.
    public func contains(_ address: SocketAddress) -> Bool {
        guard let bits = address.bits else { return false }
        return bits.upper & Self.mask(prefix) == upper && bits.lower & Self.mask(prefix - 64) == lower
    }

    /// Returns a mask of the highest `count` bits of a half; all bits from 64, none up to 0.
    private static func mask(_ count: Int) -> UInt64 {
        count >= 64 ? .max : count <= 0 ? 0 : ~(.max >> count)
    }
}

extension SocketAddress {
    /// Both halves of the address, an IPv4 address as `::ffff:a.b.c.d`; `nil` for a UNIX-domain socket.
    public var bits: (upper: UInt64, lower: UInt64)? {
        switch self {
        case .ipv4(let number, _): (0, 0xffff_0000_0000 | UInt64(number))
        case .ipv6(let upper, let lower, _, _): (upper, lower)
        case .unix: nil
        }
    }

    /// Whether only processes of this machine can reach it: `127.0.0.0/8`, `::1`, or a UNIX-domain socket.
    public var isLoopback: Bool {
        guard let bits else { return true }
        guard bits.upper == 0 else { return false }
        return bits.lower == 1 || bits.lower >> 24 == 0xff_ff7f
    }

    /// Returns an IPv6 address; an IPv4-mapped one (`::ffff:a.b.c.d`) becomes an IPv4 address.
    static func ipv6OrMapped(_ upper: UInt64, _ lower: UInt64, zone: UInt32, port: UInt16) -> SocketAddress {
        upper == 0 && lower >> 32 == 0xffff
            ? .ipv4(UInt32(truncatingIfNeeded: lower), port: port)
            : .ipv6(upper, lower, zone: zone, port: port)
    }
}
