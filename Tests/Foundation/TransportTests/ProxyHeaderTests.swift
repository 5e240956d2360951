import Basics
import Testing

@testable import Transport

/// PROXY headers according to the specification, and nothing else.
@Suite struct ProxyHeaderTests {
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]

    /// A header of version 2.
    static func binary(_ command: UInt8, _ family: UInt8, _ rest: [UInt8], length: Int? = nil) -> [UInt8] {
        let length = length ?? rest.count
        return signature + [command, family, UInt8(length >> 8), UInt8(length & 255)] + rest
    }

    static let four: [UInt8] = [192, 0, 2, 1, 198, 51, 100, 2, 0xdc, 0x04, 0x14, 0x73]
    static let six: [UInt8] =
        [0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 0, count: 11) + [7] + [UInt8](repeating: 9, count: 16)
        + [0x01, 0x02, 0, 1]
    static let client = SocketAddress.ipv4(0xc000_0201, port: 56_324)

    static let headers: [([UInt8], SocketAddress?)] = [
        (Array("PROXY TCP4 192.0.2.1 198.51.100.2 56324 5235\r\n".utf8), client),
        (
            Array("PROXY TCP6 2001:db8::7 ::1 258 1\r\n".utf8),
            .ipv6(0x2001_0db8_0000_0000, 7, zone: 0, port: 258)
        ),
        (Array("PROXY TCP6 ::ffff:192.0.2.1 ::1 56324 1\r\n".utf8), client),
        (
            Array(
                "PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"
                    .utf8), .ipv6(.max, .max, zone: 0, port: 65_535)
        ),
        (Array("PROXY UNKNOWN\r\n".utf8), nil),
        (
            Array(
                "PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n"
                    .utf8), nil
        ),
        (binary(0x21, 0x11, four), client),
        (binary(0x21, 0x11, four + [3, 0, 4, 1, 2, 3, 4]), client),
        (binary(0x21, 0x11, four + [UInt8](repeating: 4, count: 524)), client),
        (binary(0x21, 0x21, six), .ipv6(0x2001_0db8_0000_0000, 7, zone: 0, port: 258)),
        (
            binary(
                0x21, 0x21, [UInt8](repeating: 0, count: 10) + [255, 255, 192, 0, 2, 1] + six.dropFirst(16)),
            .ipv4(0xc000_0201, port: 258)
        ),
        (binary(0x20, 0x00, []), nil), (binary(0x20, 0x11, four), nil), (binary(0x20, 0x7f, [1]), nil),
        (binary(0x21, 0x00, [1, 2]), nil), (binary(0x21, 0x31, [UInt8](repeating: 0, count: 216)), nil),
    ]

    @Test(
        "a header contains the client in both versions, and none when the proxy connects for itself",
        arguments: headers)
    func valid(header: [UInt8], client: SocketAddress?) {
        let whole = ProxyHeader.Reading.complete(client: client, length: header.count)
        #expect(ProxyHeader.read(header.raw) == whole)
        // The bytes after the header are the client's own, and no prefix is a complete header.
        #expect(ProxyHeader.read((header + header).raw) == whole)
        for length in header.indices {
            #expect(ProxyHeader.read(Array(header.prefix(length)).raw) == .incomplete, "\(length)")
        }
    }

    static let garbage: [[UInt8]] =
        [
            "\u{16}\u{3}\u{1}", "GET / HTTP/1.1\r\n", "PROXX", "proxy TCP4", "PROXY\tTCP4 ", "PROXY TCP4\r\n",
            "PROXY TCP5 192.0.2.1 198.51.100.2 1 2\r\n", "PROXY TCP4  192.0.2.1 198.51.100.2 1 2\r\n",
            "PROXY TCP4 192.0.2.1 198.51.100.2 1\r\n", "PROXY TCP4 192.0.2.1 198.51.100.2 1 2 3\r\n",
            "PROXY TCP4 192.0.2.1 198.51.100.2 1 2 \r\n", "PROXY TCP4 192.0.2.256 198.51.100.2 1 2\r\n",
            "PROXY TCP4 192.0.2 198.51.100.2 1 2\r\n", "PROXY TCP4 192.0.2.1\0 198.51.100.2 1 2\r\n",
            "PROXY TCP4 localhost 198.51.100.2 1 2\r\n", "PROXY TCP4 ::1 ::1 1 2\r\n",
            "PROXY TCP6 192.0.2.1 198.51.100.2 1 2\r\n", "PROXY TCP6 fe80::1%lo ::1 1 2\r\n",
            "PROXY TCP4 192.0.2.1 198.51.100.2 65536 2\r\n", "PROXY TCP4 192.0.2.1 198.51.100.2 -1 2\r\n",
            "PROXY TCP4 192.0.2.1 198.51.100.2 01 2\r\n", "PROXY TCP4 192.0.2.1 198.51.100.2 +1 2\r\n",
            "PROXY TCP4 192.0.2.1 198.51.100.2 1 \r\n", "PROXY TCP4 192.0.2.1 198.51.100.2 1 x\r\n",
            "PROXY UNKNOWNX\r\n", "PROXY \r\n", "PROXY UNKNOWN " + String(repeating: "x", count: 107),
            "PROXY " + String(repeating: " ", count: 600), "\r\n\r\n\0\r\nQUIT\r",
        ].map { Array($0.utf8) } + [
            binary(0x11, 0x11, four), binary(0x31, 0x11, four), binary(0x22, 0x11, four),
            binary(0x2f, 0x11, four), binary(0x21, 0x12, four), binary(0x21, 0x22, six),
            binary(0x21, 0x32, []), binary(0x21, 0x41, four), binary(0x21, 0x11, Array(four.dropLast())),
            binary(0x21, 0x21, Array(six.dropLast())), binary(0x21, 0x11, []),
            binary(0x21, 0x11, four, length: 537), binary(0x20, 0x00, [], length: 65_535),
        ]

    @Test("anything else is refused as soon as it cannot become a header", arguments: garbage)
    func invalid(text: [UInt8]) {
        guard case .invalid(let words) = ProxyHeader.read(text.raw) else {
            Issue.record("\(text) was taken")
            return
        }
        #expect(!words.isEmpty)
    }

    @Test("a network contains the addresses of its prefix, with IPv4 in either notation")
    func networks() throws {
        func holds(_ network: String, _ address: String) throws -> Bool {
            try #require(AddressNetwork(network)).contains(
                try #require(SocketAddress(literal: address, port: 9)))
        }
        #expect(try holds("192.0.2.7", "192.0.2.7") && !holds("192.0.2.7", "192.0.2.8"))
        #expect(try holds("10.0.0.0/8", "10.255.1.2") && !holds("10.0.0.0/8", "11.0.0.0"))
        #expect(try holds("10.1.2.3/9", "10.127.1.2") && !holds("10.1.2.3/9", "10.128.0.0"))
        #expect(try holds("0.0.0.0/0", "203.0.113.9") && !holds("0.0.0.0/0", "2001:db8::1"))
        #expect(try holds("::/0", "2001:db8::1") && holds("::/0", "203.0.113.9"))
        #expect(try holds("2001:db8::/33", "2001:db8:7fff::1") && !holds("2001:db8::/33", "2001:db8:8000::1"))
        #expect(try holds("2001:db8::8/126", "2001:db8::b") && !holds("2001:db8::8/126", "2001:db8::c"))
        #expect(try holds("::ffff:192.0.2.0/120", "192.0.2.200"))
        #expect(try !#require(AddressNetwork("::/0")).contains(.unix(path: "")))
        for wrong in [
            "", "localhost", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0",
            "10.0.0.0/08x", "fe80::1%lo", "10.0.0.0\0", "/8",
        ] {
            #expect(AddressNetwork(wrong) == nil, "\(wrong)")
        }
    }
}
