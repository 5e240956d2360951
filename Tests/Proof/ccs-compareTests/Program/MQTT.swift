import Basics

/// The part of MQTT 3.1.1 that the bench needs, as a client.
enum MQTT {
    /// Types of packets that the bench uses (2.2.1).
    enum Kind: UInt8 {
        case connectAck = 2
        case publish = 3
        case publishAck = 4
        case subscribeAck = 9
    }

    /// Returns a CONNECT packet with a clean session and without keepalive (3.1).
    static func connect(client: String) -> [UInt8] {
        packet(0x10, text("MQTT") + [4, 2, 0, 0] + text(client))
    }

    /// Returns a SUBSCRIBE packet for one topic (3.8).
    static func subscribe(topic: String, quality: UInt8) -> [UInt8] {
        packet(0x82, [0, 1] + text(topic) + [quality])
    }

    /// Returns a PUBLISH packet up to its payload; the packet identifier, if any, is its last two bytes (3.3).
    static func publishHead(topic: String, payload: Int, hasIdentifier: Bool) -> [UInt8] {
        let head = text(topic) + (hasIdentifier ? [0, 0] : [])
        return [hasIdentifier ? 0x32 : 0x30] + length(head.count + payload) + head
    }

    /// Returns the lower bits of the message number of a packet identifier (`Template.identifier`).
    static func number(of identifier: UInt16) -> Int { Int(identifier) - 1 }

    private static func packet(_ first: UInt8, _ body: [UInt8]) -> [UInt8] {
        [first] + length(body.count) + body
    }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        return [UInt8(bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
    }

    /// Encodes the remaining length (2.2.3).
    private static func length(_ count: Int) -> [UInt8] {
        var rest = count
        var bytes: [UInt8] = []
        repeat {
            bytes.append(UInt8(rest & 127) | (rest > 127 ? 128 : 0))
            rest >>= 7
        } while rest > 0
        return bytes
    }
}

/// Splits a stream into MQTT packets.
struct MQTTReader {
    /// The incomplete packet so far.
    private var carry: [UInt8] = []

    /// Consumes the next bytes, split anywhere; calls `found` with the first byte and the body of each packet. Returns false if
    /// it is not MQTT.
    mutating func consume(_ bytes: RawSpan, _ found: (UInt8, RawSpan) -> Void) -> Bool {
        guard carry.isEmpty else {
            let joined = carry + [UInt8](copying: bytes)
            carry.removeAll()
            return consumeWhole(joined.raw, found)
        }
        return consumeWhole(bytes, found)
    }

    private mutating func consumeWhole(_ bytes: RawSpan, _ found: (UInt8, RawSpan) -> Void) -> Bool {
        var at = 0
        while at < bytes.byteCount {
            var length = 0
            var shift = 0
            var body = at + 1
            var isWhole = false
            while body < bytes.byteCount, !isWhole {
                let byte = bytes.byte(at: body)
                length |= Int(byte & 127) << shift
                shift += 7
                body += 1
                isWhole = byte & 128 == 0
                // The remaining length has at most four bytes.
                guard isWhole || shift < 28 else { return false }
            }
            guard isWhole, body + length <= bytes.byteCount else { break }
            found(bytes.byte(at: at), bytes.extracting(body..<body + length))
            at = body + length
        }
        if at < bytes.byteCount { carry = [UInt8](copying: bytes.extracting(at..<bytes.byteCount)) }
        return true
    }
}
