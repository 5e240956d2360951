/// The name of a device group.
public struct GroupName: Hashable, Sendable {
    /// The sender that owns the group.
    public var sender: SenderID
    /// Unique within the sender, never reused.
    public var number: UInt64

    public init(sender: SenderID, number: UInt64) {
        self.sender = sender
        self.number = number
    }
}

/// Makes and verifies notification keys: `APA91b` and 44 characters of base64url.
///
/// They contain no colon, since Google's libraries distinguish groups from tokens by it (http 6.1). As with tokens, a foreign
/// key is detected without a look-up; length and version distinguish a key from a token.
extension TokenSeal {
    private static let groupMarker: StaticString = "APA91b"
    private static let groupVersion: UInt8 = 2
    private static let groupPlainBytes = 17

    /// Characters of a notification key.
    public static let groupKeyLength = 50

    /// Returns the notification key of a group; always the same for the same name and secret.
    public func groupKey(of group: GroupName) -> [UInt8] {
        var plain = [Self.groupVersion]
        withLittleEndian(group.sender.number) { plain.append(contentsOf: $0) }
        withLittleEndian(group.number) { plain.append(contentsOf: $0) }
        let tag = seal.hash128(plain.raw)
        var sealed: [UInt8] = []
        withLittleEndian(tag.0) { sealed.append(contentsOf: $0) }
        withLittleEndian(tag.1) { sealed.append(contentsOf: $0) }
        let stream = keystream(tag)
        for at in 0..<Self.groupPlainBytes { sealed.append(plain[at] ^ stream[at]) }
        var text = ByteBuffer()
        text.append(Self.groupMarker)
        Base64.append(sealed.raw, urlSafe: true, padded: false, to: &text)
        return text.copied()
    }

    /// Returns the group of a key, or `nil` if the key was not sealed with this secret.
    public func group(of key: borrowing RawSpan) -> GroupName? {
        let start = Self.groupMarker.utf8CodeUnitCount
        guard key.byteCount == Self.groupKeyLength, key.extracting(0..<start).equals(Self.groupMarker),
            let sealed = Base64.bytes(key.extracting(start..<key.byteCount)),
            sealed.count == 16 + Self.groupPlainBytes
        else { return nil }
        let tag = (sealed.raw.word(at: 0), sealed.raw.word(at: 8))
        let stream = keystream(tag)
        let plain = (0..<Self.groupPlainBytes).map { sealed[16 + $0] ^ stream[$0] }
        let expected = seal.hash128(plain.raw)
        guard (expected.0 ^ tag.0) | (expected.1 ^ tag.1) == 0, plain[0] == Self.groupVersion else {
            return nil
        }
        let group = GroupName(sender: SenderID(plain.raw.word(at: 1)), number: plain.raw.word(at: 9))
        // Each group has one text: the other alphabet of Base64 would decode to the same bytes.
        return groupKey(of: group).raw.equals(key) ? group : nil
    }
}
