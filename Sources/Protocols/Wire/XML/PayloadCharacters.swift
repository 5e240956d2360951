import Basics

/// U+FFFE and U+FFFF inside `gcm`, which JSON allows and XML 1.0 does not.
///
/// An app server that repeats a device's text may write them raw. They must not end its stream, since the device's message
/// would come first on the next one too. Inside a JSON text their escapes have the same meaning.
enum PayloadCharacters {
    /// Returns a complete frame with the two characters inside `gcm` as JSON escapes. Returns `nil` if it contains none there.
    static func escaped(_ frame: borrowing RawSpan) -> ByteBuffer? {
        guard mayContain(frame) else { return nil }
        var result = ByteBuffer()
        var at = 0
        var copied = 0
        var depth = 0
        var isSection = false
        while at < frame.byteCount {
            if isSection || frame.byte(at: at) != UInt8(ascii: "<") {
                if isSection, begins("]]>", frame, at) { isSection = false }
                guard depth > 0, let found = Found(frame, at, isSection: isSection) else {
                    at += 1
                    continue
                }
                result.append(frame.extracting(copied..<at))
                result.append(found.character.escape)
                at += found.length
                copied = at
            } else if begins("<![CDATA[", frame, at) {
                isSection = true
                at += 9
            } else {
                let end = tagEnd(frame, at)
                depth += change(frame, at, end)
                at = end
            }
        }
        guard copied > 0 else { return nil }
        result.append(frame.extracting(copied..<frame.byteCount))
        return result
    }

    /// One of the two characters, raw or as a numeric reference.
    private struct Found {
        var character: NonCharacter
        /// The number of bytes in the frame.
        var length: Int

        init?(_ frame: borrowing RawSpan, _ at: Int, isSection: Bool) {
            if let raw = NonCharacter(in: frame, at: at) {
                self.init(character: raw, length: NonCharacter.length)
                return
            }
            guard !isSection, frame.byteCount - at >= 3, begins("&#", frame, at) else { return nil }
            let isHex = frame.byte(at: at + 2) == UInt8(ascii: "x")
            var next = at + (isHex ? 3 : 2)
            var value = 0
            while next < frame.byteCount, let digit = Hex.value(of: frame.byte(at: next)), isHex || digit < 10
            {
                // The limit avoids an overflow.
                value = min(value * (isHex ? 16 : 10) + Int(digit), 0x11_0000)
                next += 1
            }
            guard let named = NonCharacter(scalar: value), begins(";", frame, next) else { return nil }
            self.init(character: named, length: next + 1 - at)
        }

        private init(character: NonCharacter, length: Int) {
            self.character = character
            self.length = length
        }
    }

    /// Whether a frame has one of the characters or a numeric reference anywhere; almost none has.
    private static func mayContain(_ frame: borrowing RawSpan) -> Bool {
        var at = 0
        while true {
            at = frame.firstOffset(of: 0xEF, or: UInt8(ascii: "&"), from: at, to: frame.byteCount)
            guard at < frame.byteCount else { return false }
            if Found(frame, at, isSection: false) != nil { return true }
            at += 1
        }
    }

    /// Returns by how much a tag changes the number of open `gcm` elements.
    private static func change(_ frame: borrowing RawSpan, _ start: Int, _ end: Int) -> Int {
        let isEnd = frame.byte(at: start + 1) == UInt8(ascii: "/")
        var first = start + (isEnd ? 2 : 1)
        var at = first
        while at < end, !frame.byte(at: at).isXMLSpace, frame.byte(at: at) != UInt8(ascii: ">"),
            frame.byte(at: at) != UInt8(ascii: "/")
        {
            if frame.byte(at: at) == UInt8(ascii: ":") { first = at + 1 }
            at += 1
        }
        guard frame.extracting(first..<at).equals("gcm") else { return 0 }
        if isEnd { return -1 }
        return frame.byte(at: end - 2) == UInt8(ascii: "/") ? 0 : 1
    }

    /// Returns the offset after a tag; a `>` within quotes does not end it.
    private static func tagEnd(_ frame: borrowing RawSpan, _ start: Int) -> Int {
        var at = start
        var quote: UInt8?
        while at < frame.byteCount {
            let byte = frame.byte(at: at)
            at += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == 0x22 || byte == 0x27 {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                break
            }
        }
        return at
    }

    private static func begins(_ text: StaticString, _ frame: borrowing RawSpan, _ at: Int) -> Bool {
        let end = at + text.utf8CodeUnitCount
        return end <= frame.byteCount && frame.extracting(at..<end).equals(text)
    }
}
