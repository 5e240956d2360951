import Basics

/// Attacks on HTTP/1.1.
extension Attack {
    /// All attacks with requests.
    static var requests: [Attack] {
        [
            Attack(
                name: "slow-bodies", connections: 150,
                aims: [
                    .reach(.handshakes), .reach(.requestBytes), .reach(.blocks), .reach(.stillConnected),
                    .reach(.closed(.slowRequest), after: Limits.HTTP.bodyGraceSeconds),
                ],
                script: { scene, _ in
                    HostileScript(
                        listener: .https, opening: head("/fcm/send", scene, length: 1_000_000),
                        block: { _ in [0x20] }, pauseMilliseconds: 1_000)
                }),
            Attack(
                name: "held-bodies", connections: 200, blocks: 2_500,
                aims: [
                    .reach(.requestBytes, 1_000_000), .reach(.stillConnected), .atFullScale(.closed(.flood)),
                ],
                script: { scene, _ in
                    // All but the last bytes of the longest permitted body, with an unknown key.
                    var stranger = scene
                    stranger.key = "unknown"
                    var script = HostileScript(
                        listener: .https,
                        opening: head("/fcm/send", stranger, length: Limits.HTTP.requestBodyBytes),
                        block: { _ in [UInt8](repeating: 0x20, count: 65_000) })
                    script.blocks = Limits.HTTP.requestBodyBytes / 65_000
                    return script
                }),
            Attack(
                name: "endless-headers", connections: 20,
                aims: [.reach(.responses(431)), .reach(.closed(.tooLarge))],
                script: { _, _ in
                    HostileScript(
                        listener: .https, opening: Array("GET / HTTP/1.1\r\nHost: localhost\r\n".utf8),
                        block: { Array("X-\($0): \(String(repeating: "y", count: 1_000))\r\n".utf8) })
                }),
            Attack(
                name: "gzip-bombs", connections: 10, perSecond: 100,
                aims: [.reach(.responses(413))],
                script: { _, _ in
                    let bomb = GzipBomb.zeros(packedBytes: 65_536)
                    let head =
                        "POST /checkin HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-protobuffer\r\n"
                        + "Content-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n"
                    return HostileScript(
                        listener: .https, block: { _ in Array(head.utf8) + bomb }, pauseMilliseconds: 200)
                }),
            Attack(
                name: "unknown-tokens", connections: 10, blocks: 1_000,
                aims: [.reach(.responses(200)), .reach(.refusals, 1_000)],
                script: { scene, number in
                    HostileScript(
                        listener: .https,
                        block: { block in
                            let tokens = scene.unknownTokens(1_000, number * 1_000 + block)
                            let body = Array(
                                "{\"registration_ids\":[\"\(tokens.joined(separator: "\",\""))\"]}".utf8)
                            return head("/fcm/send", scene, length: body.count) + body
                        }, pauseMilliseconds: 50)
                }),
        ]
    }

    private static func head(_ path: String, _ scene: AttackScene, length: Int) -> [UInt8] {
        Array(
            ("POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Authorization: key=\(scene.key)\r\nContent-Length: \(length)\r\n\r\n").utf8)
    }
}

/// Compressed data that expands to far more.
enum GzipBomb {
    /// Returns compressed zeros: a thousand bytes of them take about four.
    static func zeros(packedBytes: Int) -> [UInt8] {
        var bits = BitWriter()
        // One last block with the fixed codes (RFC 1951, 3.2.6).
        bits.write([1, 1, 0])
        // A literal 0: code 00110000.
        bits.write([0, 0, 1, 1, 0, 0, 0, 0])
        while bits.bytes.count < packedBytes {
            // 258 bytes (code 11000101) from one byte back (code 00000).
            bits.write([1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0])
        }
        bits.write([0, 0, 0, 0, 0, 0, 0])
        bits.flush()
        // The checksum is wrong: a reader that checks it has expanded everything.
        return [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255] + bits.bytes + [UInt8](repeating: 0, count: 8)
    }

    private struct BitWriter {
        var bytes: [UInt8] = []
        private var byte: UInt8 = 0
        private var filled: UInt8 = 0

        mutating func write(_ bits: [UInt8]) {
            for bit in bits {
                byte |= bit << filled
                filled += 1
                if filled == 8 { flush() }
            }
        }

        mutating func flush() {
            if filled > 0 { bytes.append(byte) }
            byte = 0
            filled = 0
        }
    }
}
