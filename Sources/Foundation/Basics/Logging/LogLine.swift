/// Formats one log line: `key=value` text or a JSON object, always a single line.
struct LogLine: ~Copyable {
    private(set) var bytes = ByteBuffer()
    private let isJSON: Bool

    /// Starts a line; under journald the priority is its prefix, and the journal adds the time.
    init(format: Log.Format, level: Log.Level, journal: Bool, time: UnixMilliseconds, event: StaticString) {
        isJSON = format == .json
        if journal {
            bytes.append("<")
            bytes.append(decimal: level.priority)
            bytes.append(">")
        }
        if isJSON { bytes.append("{") }
        if !journal { add("time", .text(Timestamp.text(time))) }
        add("level", .text(level.word))
        add("event", .text("\(event)"))
    }

    /// Adds a field; text beyond the limit is cut.
    mutating func add(_ key: StaticString, _ value: LogValue) {
        if let last = bytes.last, last != UInt8(ascii: "{"), last != UInt8(ascii: ">") {
            bytes.append(isJSON ? "," : " ")
        }
        if isJSON { bytes.append("\"") }
        bytes.append(key)
        bytes.append(isJSON ? "\":" : "=")
        switch value {
        case .number(let number): bytes.append(decimal: number)
        case .boolean(let boolean): bytes.append(boolean ? "true" : "false")
        case .text(let text): add(text)
        }
    }

    /// Ends the line and returns it.
    consuming func finished() -> [UInt8] {
        if isJSON { bytes.append("}") }
        bytes.append("\n")
        return bytes.copied()
    }

    private mutating func add(_ text: String) {
        var quoted = isJSON || text.isEmpty
        for byte in text.utf8 where !quoted {
            quoted = byte <= 0x20 || byte == 0x22 || byte == 0x3D || byte == 0x5C || byte >= 0x7F
        }
        if quoted { bytes.append("\"") }
        var room = Limits.Log.valueBytes
        for scalar in text.unicodeScalars {
            room -= UTF8.width(scalar)
            guard room >= 0 else {
                bytes.append("...")
                break
            }
            add(scalar)
        }
        if quoted { bytes.append("\"") }
    }

    /// Adds one character; controls, the quote, the backslash and anything that could disturb a terminal are escaped.
    private mutating func add(_ scalar: Unicode.Scalar) {
        switch scalar.value {
        case 0x22: bytes.append("\\\"")
        case 0x5C: bytes.append("\\\\")
        case 0x0A: bytes.append("\\n")
        case _ where Printable.isHarmful(scalar):
            bytes.append("\\u")
            Hex.append(UInt16(truncatingIfNeeded: scalar.value), to: &bytes)
        default:
            for unit in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { bytes.append(byte: unit) }
        }
    }
}

extension ByteBuffer {
    fileprivate var last: UInt8? { isEmpty ? nil : bytes.byte(at: count - 1) }
}
