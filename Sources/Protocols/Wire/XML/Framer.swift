import Basics

/// Finds the end of a top-level element, scanning each byte once however the stream is split.
///
/// It checks the syntax and nesting of tags and all limits, so that an unauthenticated peer is stopped before anything is
/// built; references, namespaces and characters are left to the parser of the complete element.
struct Framer {
    /// The type of a complete frame.
    enum Kind {
        case declaration
        case header
        case stanza
        case streamEnd
    }

    private enum State: UInt8 {
        case outside, opened, bang, cdataStart, text, cdata, name, tag, attribute, afterAttribute, equals,
            value
        case afterValue, emptySlash, endStart, endName, endTag, declarationName, declaration, declarationMark
    }

    private var state = State.outside
    /// Whether a stream header is expected.
    var isHeader: Bool
    /// Whether the end tag of the previous stream is allowed instead of the header.
    private let mayEnd: Bool
    /// The hash of the root's name; `nil` before its header.
    let root: UInt32?
    /// Whether the header may be repeated.
    var mayRepeatHeader: Bool
    private var quote: UInt8 = 0
    /// The number of bytes matched of `<![CDATA[`, `]]>` or `<?xml`.
    private var matched: UInt8 = 0
    private var depth: UInt8 = 0
    private(set) var isEmptyTag = false
    private var attributes: UInt16 = 0
    private var elements: UInt16 = 0
    /// Bytes of the frame so far.
    private(set) var count: UInt32 = 0
    /// The hash of the name being read, or of the name of a complete header.
    private(set) var hash: UInt32 = 0
    /// The hashes of the names of the open elements. Different names may collide; the parser compares the names themselves.
    private var open = InlineArray<16, UInt32>(repeating: 0)
    private(set) var kind = Kind.stanza

    /// Creates a framer that expects the `<` of a frame.
    init(isHeader: Bool, mayEnd: Bool = false, root: UInt32? = nil, mayRepeatHeader: Bool = false) {
        self.isHeader = isHeader
        self.mayEnd = mayEnd
        self.root = root
        self.mayRepeatHeader = mayRepeatHeader
    }

    /// Whether a frame is incomplete.
    var isInside: Bool { state != .outside }

    /// Scans bytes from an offset. Returns the offset after the frame, or `nil` if all bytes are consumed and it is incomplete.
    mutating func advance(
        _ bytes: borrowing RawSpan, from start: Int, limits: XMLLimits
    ) throws(XMLFailure) -> Int? {
        let room = limits.bytes - Int(count)
        let stop = bytes.byteCount - start > room ? start + room : bytes.byteCount
        var at = start
        while at < stop {
            let byte = bytes.byte(at: at)
            switch state {
            case .text:
                if byte != 0x3C {
                    at = bytes.firstOffset(of: 0x3C, from: at + 1, to: stop)
                    continue
                }
                state = .opened
            case .value:
                if byte != quote && byte != 0x3C {
                    at = bytes.firstOffset(of: quote, or: 0x3C, from: at + 1, to: stop)
                    continue
                }
                guard byte == quote else { throw .invalidXML }
                state = .afterValue
            default:
                if try step(byte, limits) {
                    state = .outside
                    count += UInt32(at + 1 - start)
                    return at + 1
                }
            }
            at += 1
        }
        guard stop == bytes.byteCount else { throw .policyViolation }
        count += UInt32(stop - start)
        return nil
    }

    /// Prepares for the next frame.
    mutating func reset() {
        self = Framer(isHeader: isHeader, mayEnd: mayEnd, root: root, mayRepeatHeader: mayRepeatHeader)
    }

    /// Processes one byte, in any state but those that skip runs. Returns true if it completes the frame.
    private mutating func step(_ byte: UInt8, _ limits: XMLLimits) throws(XMLFailure) -> Bool {
        switch state {
        case .outside, .text, .value: state = .opened
        case .opened: try opened(byte, limits)
        case .bang, .cdataStart, .cdata: try section(byte)
        case .declarationName, .declaration, .declarationMark: return try declaration(byte)
        case .endStart, .endName, .endTag: return try end(byte)
        case .name:
            if byte.isNameByte {
                hash = (hash ^ UInt32(byte)) &* 16_777_619
            } else {
                return try tag(byte, limits)
            }
        default: return try tag(byte, limits)
        }
        return false
    }

    private mutating func opened(_ byte: UInt8, _ limits: XMLLimits) throws(XMLFailure) {
        if byte.isNameStart {
            hash = (2_166_136_261 ^ UInt32(byte)) &* 16_777_619
            elements += 1
            attributes = 0
            guard Int(elements) <= limits.elements, Int(depth) < limits.depth else {
                throw .policyViolation
            }
            state = .name
            return
        }
        switch byte {
        case UInt8(ascii: "/") where !isHeader || mayEnd: state = .endStart
        case UInt8(ascii: "!"): state = .bang
        case UInt8(ascii: "?") where isHeader || mayRepeatHeader && depth == 0:
            matched = 0
            state = .declarationName
        case UInt8(ascii: "?"): throw .restrictedXML
        default: throw .invalidXML
        }
    }

    /// Processes a byte within a start tag, after its name or within an attribute.
    private mutating func tag(_ byte: UInt8, _ limits: XMLLimits) throws(XMLFailure) -> Bool {
        switch state {
        case .name, .tag, .afterValue:
            if byte.isXMLSpace {
                state = .tag
            } else if byte == UInt8(ascii: ">") {
                return try closeStartTag(isEmpty: false)
            } else if byte == UInt8(ascii: "/") {
                state = .emptySlash
            } else if state == .tag, byte.isNameStart {
                attributes += 1
                guard Int(attributes) <= limits.attributes else { throw .policyViolation }
                state = .attribute
            } else {
                throw .invalidXML
            }
        case .emptySlash:
            guard byte == UInt8(ascii: ">") else { throw .invalidXML }
            return try closeStartTag(isEmpty: true)
        case .attribute where byte.isNameByte: break
        case .attribute, .afterAttribute:
            if byte == UInt8(ascii: "=") {
                state = .equals
            } else if byte.isXMLSpace {
                state = .afterAttribute
            } else {
                throw .invalidXML
            }
        default:
            if byte == 0x22 || byte == 0x27 {
                quote = byte
                state = .value
            } else if !byte.isXMLSpace {
                throw .invalidXML
            }
        }
        return false
    }

    private mutating func closeStartTag(isEmpty: Bool) throws(XMLFailure) -> Bool {
        isEmptyTag = isEmpty
        if isHeader || depth == 0 && hash == root {
            // Otherwise all that follows would be taken for its content, which has no end.
            guard isHeader || mayRepeatHeader else { throw .badFormat }
            kind = .header
            return true
        }
        state = .text
        guard !isEmpty else {
            kind = .stanza
            return depth == 0
        }
        open[Int(depth)] = hash
        depth += 1
        return false
    }

    /// Processes a byte within an end tag.
    private mutating func end(_ byte: UInt8) throws(XMLFailure) -> Bool {
        switch state {
        case .endStart:
            guard byte.isNameStart else { throw .invalidXML }
            hash = (2_166_136_261 ^ UInt32(byte)) &* 16_777_619
            state = .endName
            return false
        case .endName where byte.isNameByte:
            hash = (hash ^ UInt32(byte)) &* 16_777_619
            return false
        default: break
        }
        if byte.isXMLSpace {
            state = .endTag
            return false
        }
        guard byte == UInt8(ascii: ">") else { throw .invalidXML }
        guard depth > 0 else {
            kind = .streamEnd
            return true
        }
        depth -= 1
        guard open[Int(depth)] == hash else { throw .invalidXML }
        state = .text
        kind = .stanza
        return depth == 0
    }

    /// Processes a byte after `<!`, where only CDATA is allowed, and only within an element.
    private mutating func section(_ byte: UInt8) throws(XMLFailure) {
        switch state {
        case .bang:
            if byte == UInt8(ascii: "-") || byte.isNameStart { throw .restrictedXML }
            guard byte == UInt8(ascii: "[") else { throw .invalidXML }
            // CDATA between stanzas is well-formed but not allowed in a stream; before the root it is not well-formed.
            guard depth > 0 else { throw isHeader ? .invalidXML : .badFormat }
            matched = 0
            state = .cdataStart
        case .cdataStart:
            let start: StaticString = "CDATA["
            guard byte == start.byte(at: Int(matched)) else { throw .invalidXML }
            matched += 1
            guard matched == 6 else { return }
            matched = 0
            state = .cdata
        default:
            if byte == UInt8(ascii: "]") {
                matched = min(2, matched + 1)
            } else if byte == UInt8(ascii: ">"), matched == 2 {
                state = .text
            } else {
                matched = 0
            }
        }
    }

    /// Processes a byte after `<?`, where only an XML declaration before a header is allowed.
    private mutating func declaration(_ byte: UInt8) throws(XMLFailure) -> Bool {
        switch state {
        case .declarationName:
            let name: StaticString = "xml"
            if matched < 3 {
                guard byte == name.byte(at: Int(matched)) else { throw .restrictedXML }
                matched += 1
            } else {
                guard byte.isXMLSpace else { throw .restrictedXML }
                state = .declaration
            }
        case .declaration:
            if byte == UInt8(ascii: "?") { state = .declarationMark }
            if byte == UInt8(ascii: "<") { throw .invalidXML }
        default:
            guard byte == UInt8(ascii: ">") else { throw .invalidXML }
            kind = .declaration
            return true
        }
        return false
    }
}

extension UInt8 {
    /// Whether the byte is a space, tab or line end (XML 1.0, production 3).
    @inline(__always) var isXMLSpace: Bool {
        self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09
    }

    /// Whether the byte may start a name; non-ASCII characters are left to the parser.
    @inline(__always) var isNameStart: Bool {
        (self | 0x20) &- 0x61 < 26 || self == 0x5F || self == 0x3A || self >= 0x80
    }

    /// Whether the byte may continue a name.
    @inline(__always) var isNameByte: Bool {
        isNameStart || self &- 0x30 < 10 || self == 0x2D || self == 0x2E
    }
}
