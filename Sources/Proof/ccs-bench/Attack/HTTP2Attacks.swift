import Basics

/// Attacks on HTTP/2, by handcrafted frames.
extension Attack {
    static var http2: [Attack] {
        [
            Attack(
                name: "h2-resets", connections: 20,
                aims: [.reach(.closed(.flood)), .reach(.goAways)],
                script: { _, _ in
                    flood { block in
                        HTTP2Frames.streams(block, 100).flatMap {
                            HTTP2Frames.headers($0, flags: 5, "/checkin")
                                + HTTP2Frames.frame(3, 0, $0, [0, 0, 0, 8])
                        }
                    }
                }),
            Attack(
                name: "h2-pings", connections: 20,
                aims: [.reach(.closed(.flood)), .reach(.goAways)],
                script: { _, _ in
                    let ping = HTTP2Frames.frame(6, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
                    return flood { _ in (0..<500).flatMap { _ in ping } }
                }),
            Attack(
                name: "h2-settings", connections: 20,
                aims: [.reach(.closed(.flood)), .reach(.goAways)],
                script: { _, _ in
                    let settings = HTTP2Frames.frame(4, 0, 0, [0, 3, 0, 0, 0, 100])
                    return flood { _ in (0..<500).flatMap { _ in settings } }
                }),
            Attack(
                name: "h2-headers", connections: 20,
                aims: [.reach(.closed(.flood)), .reach(.goAways)],
                script: { _, _ in
                    flood { block in
                        // A header block that does not end.
                        guard block > 0 else { return HTTP2Frames.headers(1, flags: 0, "/") }
                        let header = HTTP2Frames.literal("x-\(block)", String(repeating: "y", count: 100))
                        return HTTP2Frames.frame(9, 0, 1, (0..<80).flatMap { _ in header })
                    }
                }),
            Attack(
                name: "h2-bodies", connections: 30, blocks: 400,
                aims: [.reach(.requestBytes, 1_000_000), .reach(.streamResets), .reach(.stillConnected)],
                script: { _, _ in
                    // All permitted streams, each with a body that never ends.
                    var script = flood { block in
                        HTTP2Frames.streams(block, 32).flatMap {
                            HTTP2Frames.headers($0, flags: 4, "/fcm/send")
                                + HTTP2Frames.frame(0, 0, $0, [UInt8](repeating: 0x20, count: 8_000))
                        }
                    }
                    script.blocks = Limits.HTTP2.streams / 32
                    return script
                }),
            Attack(
                name: "h2-unread", connections: 20,
                aims: [
                    .reach(.responses(200), 50), .reach(.stillConnected),
                    .reach(.closed(.slowConsumer), after: Limits.Connection.writeDeadlineSeconds),
                ],
                script: { _, _ in
                    var script = flood { block in
                        HTTP2Frames.streams(block, 50).flatMap {
                            HTTP2Frames.headers($0, flags: 5, "/openapi.json", method: 0x82)
                        }
                    }
                    // No more than the permitted streams: beyond that the protocol itself would end the connection.
                    script.blocks = Limits.HTTP2.streams / 50
                    script.reads = false
                    return script
                }),
        ]
    }

    /// Returns a script that reads the server's windows, and then floods.
    private static func flood(_ block: @escaping (Int) -> [UInt8]) -> HostileScript {
        HostileScript(
            listener: .https, tlsMode: .http2,
            // The largest windows for responses.
            opening: HTTP2Frames.preface + HTTP2Frames.frame(4, 0, 0, [0, 4, 127, 255, 255, 255]),
            turns: [
                .init(awaited: "", answer: HTTP2Frames.frame(4, 1, 0, [])),
                .init(awaited: "", answer: []),
            ],
            block: block)
    }
}

/// HTTP/2 frames in wire format (RFC 9113); header blocks use neither tables nor Huffman codes.
enum HTTP2Frames {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    static func frame(_ type: UInt8, _ flags: UInt8, _ stream: Int, _ payload: [UInt8]) -> [UInt8] {
        let length = [payload.count >> 16, payload.count >> 8, payload.count].map { UInt8($0 & 255) }
        let number = [stream >> 24, stream >> 16, stream >> 8, stream].map { UInt8($0 & 255) }
        return length + [type, flags] + number + payload
    }

    /// Returns a HEADERS frame of a request; flag 4 ends the header block, flag 1 the stream. `method` is an entry of the
    /// static table: POST.
    static func headers(_ stream: Int, flags: UInt8, _ path: String, method: UInt8 = 0x83) -> [UInt8] {
        let name = Array("localhost".utf8)
        let block =
            [method, 0x87, 0x04, UInt8(path.utf8.count)] + Array(path.utf8) + [0x01, UInt8(name.count)] + name
        return frame(1, flags, stream, block)
    }

    /// Returns a header with a literal name; both parts are shorter than 127 bytes.
    static func literal(_ name: String, _ value: String) -> [UInt8] {
        [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
    }

    /// Returns the stream numbers of a block.
    static func streams(_ block: Int, _ count: Int) -> [Int] {
        (0..<count).map { (block * count + $0) * 2 + 1 }
    }
}
