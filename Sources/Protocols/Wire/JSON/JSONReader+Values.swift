public import Basics

extension JSONReader {
    /// Whether a string equals a literal.
    @inline(__always)
    public func string(_ value: JSONSlice, equals literal: StaticString) -> Bool {
        if isPlain(value) { return inside(value).equals(literal) }
        var decoded = ByteBuffer()
        append(string: value, to: &decoded)
        return decoded.bytes.equals(literal)
    }

    /// Whether a string contains no escape, so that `inside` is its content.
    @inline(__always)
    public func isPlain(_ value: JSONSlice) -> Bool {
        !hasEscapes || !JSONScanner(text).holdsBackslash(value.start, value.end)
    }

    /// The raw bytes between the quotes of a string, escapes unresolved.
    @_lifetime(copy self)
    public func inside(_ value: JSONSlice) -> RawSpan {
        text.extracting(value.start &+ 1..<value.end &- 1)
    }

    /// Appends the content of a string, escapes resolved.
    public func append(string value: JSONSlice, to buffer: inout ByteBuffer) {
        let end = value.end &- 1
        var at = value.start &+ 1
        var copied = at
        while at < end {
            guard text.byte(at: at) == UInt8(ascii: "\\") else {
                at &+= 1
                continue
            }
            buffer.append(text.extracting(copied..<at))
            at = append(escapeAt: at, to: &buffer)
            copied = at
        }
        buffer.append(text.extracting(copied..<end))
    }

    /// Returns the content of a string, escapes resolved.
    public func string(_ value: JSONSlice) -> [UInt8] {
        if isPlain(value) { return [UInt8](copying: inside(value)) }
        var decoded = ByteBuffer()
        append(string: value, to: &decoded)
        return decoded.copied()
    }

    /// Returns the value of a number without fraction and exponent. Returns `nil` for any other value and on overflow.
    public func integer(_ value: JSONSlice) -> Int? {
        guard kind(value) == .number else { return nil }
        return Self.integer(raw(value))
    }

    /// Returns the value of a whole number in any notation: `3`, `3.0`, `3e0`, `30e-1`. Returns `nil` for any other value.
    ///
    /// Some clients store and write every number as floating point.
    public func wholeNumber(_ value: JSONSlice) -> Int? {
        guard kind(value) == .number else { return nil }
        return integer(value) ?? Self.wholeNumber(raw(value))
    }

    /// Parses the text of a whole number exactly: floating point would round 2.99999999999999999 to 3.
    private static func wholeNumber(_ text: RawSpan) -> Int? {
        guard text.byteCount <= Limits.Stanza.wholeNumberBytes else { return nil }
        let bytes = [UInt8](copying: text)
        let end = bytes.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? bytes.count
        var exponent = 0
        if end < bytes.count {
            let sign = bytes[end + 1] == UInt8(ascii: "+") ? 1 : 0
            guard let given = integer(text.extracting((end + 1 + sign)..<bytes.count)), abs(given) <= 99
            else { return nil }
            exponent = given
        }
        var digits = bytes[..<end]
        if let point = digits.firstIndex(of: UInt8(ascii: ".")) {
            exponent -= end - point - 1
            digits.remove(at: point)
        }
        while exponent < 0, digits.last == 0x30 {
            digits.removeLast()
            exponent += 1
        }
        let isZero = digits.allSatisfy { $0 == 0x30 || $0 == UInt8(ascii: "-") }
        guard !isZero else { return 0 }
        guard exponent >= 0 else { return nil }
        digits += [UInt8](repeating: 0x30, count: exponent)
        return integer(Array(digits).raw)
    }

    /// Parses a decimal integer, `-` allowed. Returns `nil` for any other text and on overflow.
    public static func integer(_ text: RawSpan) -> Int? {
        let isNegative = text.byteCount > 1 && text.byte(at: 0) == UInt8(ascii: "-")
        guard text.byteCount > 0, text.byteCount <= 20 else { return nil }
        var number = 0
        for at in (isNegative ? 1 : 0)..<text.byteCount {
            let digit = text.byte(at: at) &- 0x30
            guard digit < 10 else { return nil }
            let (product, over) = number.multipliedReportingOverflow(by: 10)
            let (sum, past) = product.subtractingReportingOverflow(Int(digit))
            guard !over, !past else { return nil }
            number = sum
        }
        if isNegative { return number }
        return number == .min ? nil : -number
    }

    /// Returns the value of `true` or `false`, or `nil` for any other value.
    public func boolean(_ value: JSONSlice) -> Bool? {
        guard kind(value) == .boolean else { return nil }
        return text.byte(at: value.start) == UInt8(ascii: "t")
    }

    /// Whether a string or key in the value contains U+0000.
    public func holdsNUL(_ value: JSONSlice) -> Bool {
        guard !isPlain(value) else { return false }
        var at = value.start
        while at < value.end {
            guard text.byte(at: at) == UInt8(ascii: "\\") else {
                at &+= 1
                continue
            }
            if value.end &- at >= 6, text.extracting(at..<at &+ 6).equals("\\u0000") { return true }
            at &+= 2
        }
        return false
    }

    /// Appends the value without insignificant whitespace.
    public func append(compact value: JSONSlice, to buffer: inout ByteBuffer) {
        let scanner = JSONScanner(text)
        var at = value.start
        while at < value.end {
            let byte = text.byte(at: at)
            switch byte {
            case UInt8(ascii: "\""):
                let end = scanner.endOfCheckedString(at)
                buffer.append(text.extracting(at..<end))
                at = end
            case 0x20, 0x09, 0x0A, 0x0D: at &+= 1
            default:
                buffer.append(byte: byte)
                at &+= 1
            }
        }
    }

    private func append(escapeAt offset: Int, to buffer: inout ByteBuffer) -> Int {
        let letter = text.byte(at: offset &+ 1)
        switch letter {
        case UInt8(ascii: "b"): buffer.append(byte: 0x08)
        case UInt8(ascii: "f"): buffer.append(byte: 0x0C)
        case UInt8(ascii: "n"): buffer.append(byte: 0x0A)
        case UInt8(ascii: "r"): buffer.append(byte: 0x0D)
        case UInt8(ascii: "t"): buffer.append(byte: 0x09)
        case UInt8(ascii: "u"):
            let unit = codeUnit(offset)
            guard unit & 0xFC00 == 0xD800 else {
                UTF8Sequence.append(unit, to: &buffer)
                return offset &+ 6
            }
            let low = codeUnit(offset &+ 6)
            UTF8Sequence.append(0x10000 &+ (unit & 0x3FF) << 10 &+ (low & 0x3FF), to: &buffer)
            return offset &+ 12
        default: buffer.append(byte: letter)
        }
        return offset &+ 2
    }

    private func codeUnit(_ offset: Int) -> UInt32 {
        var unit: UInt32 = 0
        for at in offset &+ 2..<offset &+ 6 {
            unit = unit << 4 | UInt32(Hex.value(of: text.byte(at: at)) ?? 0)
        }
        return unit
    }
}
