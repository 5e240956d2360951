import Basics

/// The PROXY protocol, versions 1 and 2: a header in which a proxy sends the client's address before the client's own bytes
/// (haproxy.org/download/2.6/doc/proxy-protocol.txt).
public enum ProxyHeader {
    /// The result of reading the first bytes of a connection.
    public enum Reading: Sendable, Equatable {
        /// The start of a header; more bytes are needed.
        case incomplete
        /// A whole header of `length` bytes. `client` is `nil` if the proxy connects for itself (`LOCAL`, `UNKNOWN`), as its
        /// health checks do, or for a client without an IP address.
        case complete(client: SocketAddress?, length: Int)
        /// Not a header; contains the reason.
        case invalid(String)
    }

    /// Size of the longest accepted header in bytes.
    public static let longest = max(
        Limits.Connection.proxyHeaderV1Bytes, Limits.Connection.proxyHeaderV2Bytes)

    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]
    private static let word = Array("PROXY ".utf8)

    /// Reads a header, or its start, from the first bytes of a connection.
    public static func read(_ bytes: borrowing RawSpan) -> Reading {
        guard bytes.byteCount > 0 else { return .incomplete }
        return bytes.byte(at: 0) == signature[0] ? readBinary(bytes) : readText(bytes)
    }

    // MARK: Version 1

    private static func readText(_ bytes: borrowing RawSpan) -> Reading {
        for at in 0..<min(bytes.byteCount, word.count) where bytes.byte(at: at) != word[at] {
            return .invalid("the connection does not start with a PROXY header")
        }
        var end = word.count
        while end + 1 < min(bytes.byteCount, Limits.Connection.proxyHeaderV1Bytes) {
            guard bytes.byte(at: end) != 13 || bytes.byte(at: end + 1) != 10 else {
                var line: [UInt8] = []
                for at in word.count..<end { line.append(bytes.byte(at: at)) }
                return client(inLine: line, length: end + 2)
            }
            end += 1
        }
        return bytes.byteCount < Limits.Connection.proxyHeaderV1Bytes
            ? .incomplete
            : .invalid("no line end in \(Limits.Connection.proxyHeaderV1Bytes) bytes of a PROXY header")
    }

    private static func client(inLine line: [UInt8], length: Int) -> Reading {
        let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        // Anything after UNKNOWN must be ignored.
        if parts.first?.elementsEqual("UNKNOWN".utf8) == true {
            return .complete(client: nil, length: length)
        }
        guard parts.count == 5, let isSix = isSix(parts[0]), let port = number(parts[3]),
            number(parts[4]) != nil, let client = address(parts[1], isSix, port),
            address(parts[2], isSix, 0) != nil
        else {
            return .invalid("malformed PROXY header: expected TCP4 or TCP6, two addresses and two ports")
        }
        return .complete(client: client, length: length)
    }

    private static func isSix(_ text: ArraySlice<UInt8>) -> Bool? {
        if text.elementsEqual("TCP4".utf8) { return false }
        return text.elementsEqual("TCP6".utf8) ? true : nil
    }

    private static func address(_ text: ArraySlice<UInt8>, _ isSix: Bool, _ port: UInt16) -> SocketAddress? {
        // Only an address: no zone, and no zero byte, which would end the text for the C library.
        guard
            text.allSatisfy({ byte in
                (0x30...0x39).contains(byte) || byte == 0x2E
                    || isSix && (byte == 0x3A || (0x61...0x66).contains(byte | 0x20))
            })
        else { return nil }
        switch SocketAddress(literal: String(decoding: text, as: UTF8.self), port: port) {
        case .ipv4(let number, let port)? where !isSix: return .ipv4(number, port: port)
        case .ipv6(let upper, let lower, _, let port)? where isSix:
            return .ipv6OrMapped(upper, lower, zone: 0, port: port)
        default: return nil
        }
    }

    private static func number(_ text: ArraySlice<UInt8>) -> UInt16? {
        guard (1...5).contains(text.count), text.count == 1 || text.first != 0x30,
            text.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return UInt16(exactly: text.reduce(0) { $0 * 10 + Int($1) - 0x30 })
    }

    // MARK: Version 2

    /// Size of the signature, version and command, family and length in bytes.
    private static let fixedBytes = 16

    private static func readBinary(_ bytes: borrowing RawSpan) -> Reading {
        for at in 0..<min(bytes.byteCount, signature.count) where bytes.byte(at: at) != signature[at] {
            return .invalid("the connection does not start with a PROXY header")
        }
        guard bytes.byteCount >= fixedBytes else { return .incomplete }
        let (command, family) = (bytes.byte(at: 12), bytes.byte(at: 13))
        guard command >> 4 == 2, command & 15 <= 1 else {
            return .invalid("unsupported PROXY header: version \(command >> 4), command \(command & 15)")
        }
        let length = fixedBytes + Int(bytes.byte(at: 14)) << 8 + Int(bytes.byte(at: 15))
        guard length <= Limits.Connection.proxyHeaderV2Bytes else {
            return .invalid(
                "PROXY header too long: \(length) bytes, at most \(Limits.Connection.proxyHeaderV2Bytes) allowed"
            )
        }
        guard bytes.byteCount >= length else { return .incomplete }
        guard command & 15 == 1 else { return .complete(client: nil, length: length) }
        switch family {
        case 0x11:
            guard length >= fixedBytes + 12 else { break }
            var number: UInt32 = 0
            for at in 16..<20 { number = number << 8 | UInt32(bytes.byte(at: at)) }
            return .complete(client: .ipv4(number, port: port(bytes, at: 24)), length: length)
        case 0x21:
            guard length >= fixedBytes + 36 else { break }
            var halves: (upper: UInt64, lower: UInt64) = (0, 0)
            for at in 16..<24 { halves.upper = halves.upper << 8 | UInt64(bytes.byte(at: at)) }
            for at in 24..<32 { halves.lower = halves.lower << 8 | UInt64(bytes.byte(at: at)) }
            let client = SocketAddress.ipv6OrMapped(
                halves.upper, halves.lower, zone: 0, port: port(bytes, at: 48))
            return .complete(client: client, length: length)
        case 0x00, 0x31: return .complete(client: nil, length: length)
        default: return .invalid("unsupported PROXY header: family \(family)")
        }
        return .invalid("malformed PROXY header: too short for its addresses")
    }

    private static func port(_ bytes: borrowing RawSpan, at place: Int) -> UInt16 {
        UInt16(bytes.byte(at: place)) << 8 | UInt16(bytes.byte(at: place + 1))
    }
}
