import Basics

/// What the bench needs of MQTT 3.1.1, as a client.
enum MQTT {
    /// Kinds of packets that matter (2.2.1).
    enum Kind: UInt8 {
        case connectAck = 2
        case publish = 3
        case publishAck = 4
        case subscribeAck = 9
    }

    /// Opens a session without a past and without keepalive (3.1).
    static func connect(client: String) -> [UInt8] {
        packet(0x10, text("MQTT") + [4, 2, 0, 0] + text(client))
    }

    /// Subscribes to one topic (3.8).
    static func subscribe(topic: String, quality: UInt8) -> [UInt8] {
        packet(0x82, [0, 1] + text(topic) + [quality])
    }

    /// All of a PUBLISH before its payload; the packet identifier, where there is one, is its last two bytes (3.3).
    static func publishHead(topic: String, payload: Int, hasIdentifier: Bool) -> [UInt8] {
        let head = text(topic) + (hasIdentifier ? [0, 0] : [])
        return [hasIdentifier ? 0x32 : 0x30] + length(head.count + payload) + head
    }

    /// The packet identifier of a message; the lower bits are those of its number, and it is never 0.
    static func identifier(of number: Int) -> UInt16 { UInt16(number & 0x7FFF) + 1 }

    /// The lower bits of the number of the message that has this packet identifier.
    static func number(of identifier: UInt16) -> Int { Int(identifier) - 1 }

    private static func packet(_ first: UInt8, _ body: [UInt8]) -> [UInt8] {
        [first] + length(body.count) + body
    }

    private static func text(_ text: String) -> [UInt8] {
        let octets = Array(text.utf8)
        return [UInt8(octets.count >> 8), UInt8(truncatingIfNeeded: octets.count)] + octets
    }

    /// The remaining length (2.2.3).
    private static func length(_ count: Int) -> [UInt8] {
        var rest = count
        var octets: [UInt8] = []
        repeat {
            octets.append(UInt8(rest & 127) | (rest > 127 ? 128 : 0))
            rest >>= 7
        } while rest > 0
        return octets
    }
}

/// Cuts a stream into packets of MQTT.
struct MQTTReader {
    /// What has come of a packet that is not whole.
    private var carry: [UInt8] = []

    /// Takes the next bytes, cut anywhere; tells of each whole packet its first byte and its body. False: no MQTT.
    mutating func take(_ bytes: RawSpan, _ found: (UInt8, RawSpan) -> Void) -> Bool {
        guard carry.isEmpty else {
            let joined = carry + [UInt8](copying: bytes)
            carry.removeAll()
            return takeWhole(joined.raw, found)
        }
        return takeWhole(bytes, found)
    }

    private mutating func takeWhole(_ bytes: RawSpan, _ found: (UInt8, RawSpan) -> Void) -> Bool {
        var at = 0
        while at < bytes.byteCount {
            var length = 0
            var shift = 0
            var body = at + 1
            var isWhole = false
            while body < bytes.byteCount, !isWhole {
                let octet = bytes.byte(at: body)
                length |= Int(octet & 127) << shift
                shift += 7
                body += 1
                isWhole = octet & 128 == 0
                // The remaining length has four bytes at most.
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
