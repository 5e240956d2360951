import Basics

/// The fast path for the shape of nearly all messages: `<message …><gcm xmlns="google:mobile:data">JSON</gcm></message>`.
///
/// It accepts only what the parser would accept with the same result, and leaves everything else to the parser.
struct FastPathStanza {
    var parts = MessageStanza.Parts()
    /// Whether the payload contains references.
    var isEscaped = false
    /// Whether `type` is `error`.
    var isError = false
    /// Whether a complete stanza in the usual shape was found.
    var isFound = false
    /// The offset after the stanza, or the offset up to which was scanned if none was found.
    var end = 0

    /// Tries to recognise a stanza that starts at an offset and ends before `limit`.
    @inline(__always)
    init(_ bytes: RawSpan, from start: Int, limit: Int) {
        var cursor = Cursor(bytes, at: start, end: limit)
        isFound = cursor.stanza(&self)
        end = cursor.at
    }

    /// A position in borrowed bytes.
    private struct Cursor: ~Escapable {
        let bytes: RawSpan
        let end: Int
        var at: Int

        @_lifetime(copy bytes)
        @inline(__always)
        init(_ bytes: RawSpan, at: Int, end: Int) {
            precondition(
                at >= 0 && at <= end && end <= bytes.byteCount,
                "invalid cursor: expected a range within the span")
            self.bytes = bytes
            self.at = at
            self.end = end
        }

        @_lifetime(self: copy self)
        @inline(__always)
        mutating func stanza(_ stanza: inout FastPathStanza) -> Bool {
            guard consume("<message"), attributes(of: &stanza) else { return false }
            skipSpace()
            guard consume("<gcm"), gcmAttributes() else { return false }
            let payload = at
            guard text(isEscaped: &stanza.isEscaped) else { return false }
            stanza.parts.payload = Slice(payload, at)
            guard consume("</gcm>") else { return false }
            skipSpace()
            return consume("</message>")
        }

        /// Returns the byte at an offset, which the caller has compared with `end`.
        @inline(__always)
        func byte(_ offset: Int) -> UInt8 {
            unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
        }

        @_lifetime(self: copy self)
        @inline(__always)
        mutating func skipSpace() {
            while at < end, byte(at).isXMLSpace { at &+= 1 }
        }

        @_lifetime(self: copy self)
        @inline(__always)
        mutating func consume(_ literal: StaticString) -> Bool {
            let length = literal.utf8CodeUnitCount
            guard end &- at >= length else { return false }
            var index = 0
            while index < length {
                guard unsafe byte(at &+ index) == literal.utf8Start[index] else { return false }
                index &+= 1
            }
            at &+= length
            return true
        }

        /// Parses `=` and a quoted value of plain ASCII.
        @_lifetime(self: copy self)
        @inline(__always)
        mutating func value() -> Slice? {
            guard end &- at >= 3, byte(at) == UInt8(ascii: "=") else { return nil }
            let quote = byte(at &+ 1)
            guard quote == 0x22 || quote == 0x27 else { return nil }
            at &+= 2
            let start = at
            while at < end {
                let next = byte(at)
                if next == quote {
                    at &+= 1
                    return Slice(start, at &- 1)
                }
                guard next >= 0x20, next < 0x80, next != 0x3C, next != 0x26 else { return nil }
                at &+= 1
            }
            return nil
        }

        /// Parses the name of an attribute of `message`. Returns the bit of the attribute in `seen`, or `nil` for an unknown one.
        @_lifetime(self: copy self)
        @inline(__always)
        private mutating func attributeName() -> Int? {
            if consume("id") { return 0 }
            if consume("to") { return 1 }
            if consume("from") { return 2 }
            if consume("type") { return 3 }
            if consume("xml:lang") { return 4 }
            return nil
        }

        /// Parses the attributes and the `>` of `message`.
        @_lifetime(self: copy self)
        @inline(__always)
        mutating func attributes(of stanza: inout FastPathStanza) -> Bool {
            var seen = 0
            while at < end {
                if byte(at) == UInt8(ascii: ">") {
                    at &+= 1
                    return true
                }
                guard byte(at).isXMLSpace else { return false }
                skipSpace()
                if at < end, byte(at) == UInt8(ascii: ">") { continue }
                guard let name = attributeName(), seen & 1 << name == 0, let value = value() else {
                    return false
                }
                seen |= 1 << name
                switch name {
                case 0: stanza.parts.id = value
                case 1: stanza.parts.to = value
                case 2: stanza.parts.from = value
                case 3:
                    stanza.parts.type = value
                    stanza.isError = bytes.extracting(value.range).equals("error")
                default: break
                }
            }
            return false
        }

        /// Parses the one attribute and the `>` of `gcm`.
        @_lifetime(self: copy self)
        @inline(__always)
        mutating func gcmAttributes() -> Bool {
            guard at < end, byte(at).isXMLSpace else { return false }
            skipSpace()
            guard consume("xmlns=\"google:mobile:data\"") || consume("xmlns='google:mobile:data'") else {
                return false
            }
            skipSpace()
            return consume(">")
        }

        /// Skips character data up to the next `<`, checked as the parser does.
        @_lifetime(self: copy self)
        @inline(__always)
        mutating func text(isEscaped: inout Bool) -> Bool {
            while at < end {
                if end &- at >= 8 {
                    let word = unsafe bytes.unsafeLoadUnaligned(
                        fromUncheckedByteOffset: at, as: UInt64.self)
                    // `<` is 0x3C and `>` 0x3E: setting bit 1 finds both in one comparison.
                    let hit =
                        lanes(word | 0x0202_0202_0202_0202, equal: 0x3E) | lanes(word, equal: 0x26)
                        | ((word &- 0x2020_2020_2020_2020) & ~word | word) & 0x8080_8080_8080_8080
                    guard hit != 0 else {
                        at &+= 8
                        continue
                    }
                    at &+= hit.trailingZeroBitCount >> 3
                }
                switch byte(at) {
                case 0x3C: return true
                case 0x26:
                    isEscaped = true
                    at &+= 1
                case 0x3E:
                    if byte(at &- 1) == 0x5D, byte(at &- 2) == 0x5D { return false }
                    at &+= 1
                case 0x0A, 0x09, 0x20..<0x80: at &+= 1
                case 0x00..<0x20: return false
                default:
                    let length = bytes.characterLength(at: at)
                    guard length > 0, length <= end &- at else { return false }
                    at &+= length
                }
            }
            return false
        }
    }
}
