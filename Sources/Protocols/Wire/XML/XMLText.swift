import Basics

/// Compares eight bytes at once: the lowest high bit set in the result marks the first byte equal to `byte`.
///
/// Lanes above the first hit may be marked falsely; the first one never is.
@inline(__always)
func lanes(_ word: UInt64, equal byte: UInt8) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let difference = word ^ (ones &* UInt64(byte))
    return (difference &- ones) & ~difference & 0x8080_8080_8080_8080
}

extension RawSpan {
    /// Returns the offset of the first `byte` in a range, or `end` if there is none.
    func firstOffset(of byte: UInt8, from start: Int, to end: Int) -> Int {
        firstOffset(of: byte, or: byte, from: start, to: end)
    }

    /// Returns the offset of the first of two bytes in a range, or `end` if there is none.
    func firstOffset(of byte: UInt8, or other: UInt8, from start: Int, to end: Int) -> Int {
        precondition(end <= byteCount, "invalid range: expected an end within the span")
        var at = start
        while end &- at >= 8 {
            let word = unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: UInt64.self)
            let hit = lanes(word, equal: byte) | lanes(word, equal: other)
            guard hit == 0 else { return at &+ hit.trailingZeroBitCount >> 3 }
            at &+= 8
        }
        while at < end {
            let found = unsafe unsafeLoad(fromUncheckedByteOffset: at, as: UInt8.self)
            if found == byte || found == other { return at }
            at &+= 1
        }
        return end
    }

    /// Returns the length in bytes of the character at an offset, 0 if it is not UTF-8, or -1 if XML 1.0 does not allow it.
    func characterLength(at offset: Int) -> Int {
        let left = byteCount - offset
        let first = byte(at: offset)
        if first < 0x80 { return first >= 0x20 || first.isXMLSpace ? 1 : -1 }
        func tail(_ distance: Int) -> UInt32? {
            guard distance < left else { return nil }
            let next = byte(at: offset + distance)
            return next & 0xC0 == 0x80 ? UInt32(next & 0x3F) : nil
        }
        switch first {
        case 0xC2...0xDF: return tail(1) == nil ? 0 : 2
        case 0xE0...0xEF:
            guard let second = tail(1), let third = tail(2) else { return 0 }
            let scalar = UInt32(first & 15) << 12 | second << 6 | third
            if scalar < 0x800 || 0xD800...0xDFFF ~= scalar { return 0 }
            return scalar >= 0xFFFE ? -1 : 3
        case 0xF0...0xF4:
            guard let second = tail(1), let third = tail(2), let fourth = tail(3) else { return 0 }
            let scalar = UInt32(first & 7) << 18 | second << 12 | third << 6 | fourth
            return 0x1_0000...0x10_FFFF ~= scalar ? 4 : 0
        default: return 0
        }
    }

    /// Whether all bytes are UTF-8 and characters of XML 1.0, so that an XML stream can carry the text unescaped.
    public var isXMLText: Bool {
        (try? checkCharacters(0..<byteCount)) != nil
    }

    /// Checks that a range is UTF-8 and contains only characters of XML 1.0.
    func checkCharacters(_ range: Range<Int>) throws(XMLFailure) {
        var at = range.lowerBound
        precondition(range.upperBound <= byteCount, "invalid range: expected an end within the span")
        let bytes = extracting(0..<range.upperBound)
        while at < range.upperBound {
            if range.upperBound &- at >= 8 {
                let word = unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: UInt64.self)
                if isPlainASCII(word) {
                    at &+= 8
                    continue
                }
            }
            switch bytes.characterLength(at: at) {
            case 0: throw .unsupportedEncoding
            case -1: throw .invalidXML
            case let length: at &+= length
            }
        }
    }
}

/// Whether eight bytes are ASCII without control characters.
@inline(__always)
func isPlainASCII(_ word: UInt64) -> Bool {
    ((word &- 0x2020_2020_2020_2020) & ~word | word) & 0x8080_8080_8080_8080 == 0
}

extension ByteBuffer {
    /// Appends character data with its references resolved. Returns false if a reference is malformed (ccs-xmpp 1.12).
    mutating func appendUnescaped(_ text: borrowing RawSpan) -> Bool {
        var isValid = true
        unsafe text.withUnsafeBytes { source in
            unsafe append(upTo: source.count) { room in
                let filled = unsafe Self.unescape(source, to: room)
                isValid = filled != nil
                return filled ?? 0
            }
        }
        return isValid
    }

    /// Writes `source` with its references resolved to `room` of the same size. Returns the length, or `nil` if one is malformed.
    ///
    /// A character is never longer than its reference, so the output never overtakes the input.
    private static func unescape(
        _ source: UnsafeRawBufferPointer, to room: UnsafeMutableRawBufferPointer
    ) -> Int? {
        guard let from = source.baseAddress, let to = room.baseAddress else { return 0 }
        let count = source.count
        var at = 0
        var filled = 0
        while at < count {
            if count &- at >= 8 {
                let word = unsafe from.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                unsafe to.storeBytes(of: word, toByteOffset: filled, as: UInt64.self)
                let hit = lanes(word, equal: 0x26)
                let run = hit == 0 ? 8 : hit.trailingZeroBitCount >> 3
                at &+= run
                filled &+= run
                if hit == 0 { continue }
            } else {
                let byte = unsafe from.load(fromByteOffset: at, as: UInt8.self)
                if byte != 0x26 {
                    unsafe to.storeBytes(of: byte, toByteOffset: filled, as: UInt8.self)
                    at &+= 1
                    filled &+= 1
                    continue
                }
            }
            guard let reference = unsafe CharacterReference(in: source, at: at) else { return nil }
            var rest = reference.utf8
            for _ in 0..<reference.length {
                unsafe to.storeBytes(
                    of: UInt8(truncatingIfNeeded: rest), toByteOffset: filled, as: UInt8.self)
                rest >>= 8
                filled &+= 1
            }
            at &+= reference.sourceLength
        }
        return filled
    }
}

/// One of the five entities, or a numeric reference to a character of XML 1.0 (ccs-xmpp 1.12).
struct CharacterReference {
    /// The UTF-8, first byte in the lowest bits.
    var utf8: UInt32
    /// The length of the UTF-8 in bytes.
    var length: Int
    /// The length of the reference in bytes, from `&` to `;`.
    var sourceLength: Int

    /// Parses the reference at an offset. Returns `nil` if it is not a valid one.
    @inline(__always)
    init?(in text: UnsafeRawBufferPointer, at offset: Int) {
        let left = text.count &- offset
        var word: UInt64 = 0
        if left >= 8 {
            word = unsafe text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        } else {
            for at in 0..<left { word |= unsafe UInt64(text[offset &+ at]) << UInt64(8 &* at) }
        }
        if word & 0xFFFF_FFFF_FFFF == 0x3B74_6F75_7126 {
            self.init(0x22, 6)
        } else if word & 0xFF_FFFF_FFFF == 0x3B_706D_6126 {
            self.init(0x26, 5)
        } else if word & 0xFFFF_FFFF == 0x3B74_6C26 {
            self.init(0x3C, 4)
        } else if word & 0xFFFF_FFFF == 0x3B74_6726 {
            self.init(0x3E, 4)
        } else if word & 0xFFFF_FFFF_FFFF == 0x3B73_6F70_6126 {
            self.init(0x27, 6)
        } else if word & 0xFFFF == 0x2326 {
            unsafe self.init(numeric: text, at: offset)
        } else {
            return nil
        }
    }

    private init(_ ascii: UInt32, _ sourceLength: Int) {
        utf8 = ascii
        length = 1
        self.sourceLength = sourceLength
    }

    private init?(numeric text: UnsafeRawBufferPointer, at offset: Int) {
        guard text.count - offset >= 4 else { return nil }
        let isHex = unsafe text[offset + 2] == UInt8(ascii: "x")
        let first = offset + (isHex ? 3 : 2)
        var at = first
        var value: UInt32 = 0
        while at < text.count, unsafe text[at] != UInt8(ascii: ";") {
            guard let digit = unsafe Hex.value(of: text[at]), isHex || digit < 10 else { return nil }
            value = value * (isHex ? 16 : 10) + UInt32(digit)
            guard value <= 0x10_FFFF else { return nil }
            at += 1
        }
        guard at < text.count, at > first, let scalar = Unicode.Scalar(value),
            value >= 0x20 || value == 9 || value == 10 || value == 13, value != 0xFFFE, value != 0xFFFF
        else { return nil }
        utf8 = 0
        length = 0
        for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
            utf8 |= UInt32(unit) << UInt32(8 * length)
            length += 1
        }
        sourceLength = at + 1 - offset
    }
}
