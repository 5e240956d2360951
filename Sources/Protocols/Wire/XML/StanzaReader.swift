import Basics

/// Parses the XML stream of an app server incrementally into header, stanzas and end.
///
/// Call `next` in a loop, one event at a time, so that the session may change state between two events of one chunk:
///
///     var offset = 0
///     reading: while true {
///         switch try reader.next(bytes, from: &offset) {
///         case .incomplete: break reading
///         case .opened(let header): …           // answer, features
///         case .message(let message): use(message.payload(in: bytes))
///         case .element(let element): …         // auth → reader.restart() after success; iq; presence
///         case .closed: …
///         }
///     }
///
/// Before login the header may be repeated until the first element, with or without a declaration; each one is
/// `.opened` (ccs-xmpp 1.3).
///
/// Whitespace keepalives and a stray `>` between stanzas are skipped (ccs-xmpp 1.3, 1.9). Between two stanzas the reader
/// holds no parser and no bytes. However the stream is split, each byte is scanned a bounded number of times: once to find
/// the end of the stanza, and once more to recognise or parse the complete stanza; `work` counts that.
/// After a failure or `.closed` the reader must not be used again.
public struct StanzaReader: ~Copyable {
    private enum Stage: UInt8 {
        case header, stanzas, ended
    }

    private var stage = Stage.header
    /// The number of bytes of a byte order mark seen, or 255 after any other byte.
    private var mark: UInt8 = 0
    private var hasDeclaration = false
    private var isLoggedIn = false
    private var framer = Framer(isHeader: true)
    private var partial = ByteBuffer()
    private var root = StreamRoot()
    /// The number of bytes scanned, over all passes.
    public private(set) var work: UInt64 = 0

    /// Creates a reader that expects the header of a new connection, with the limits before login.
    public init() {}

    /// Bytes buffered of an incomplete frame.
    public var heldBytes: Int { partial.count }

    /// Expects a new header after a successful login (RFC 6120, 6.4.6), and raises the limits to those after login.
    ///
    /// A client that disconnects instead ends its first stream, which is `.closed`.
    public mutating func restart() {
        precondition(!framer.isInside, "restart() called within a stanza")
        isLoggedIn = true
        stage = .header
        mark = 0
        hasDeclaration = false
        framer = Framer(isHeader: true, mayEnd: true)
    }

    /// Reads the next event from `offset`, and advances `offset`.
    ///
    /// Pass the same `bytes` until the event is `.incomplete`; `offset` is then at their end.
    public mutating func next(
        _ bytes: RawSpan, from offset: inout Int
    ) throws(XMLFailure) -> StreamEvent {
        let limits: XMLLimits = isLoggedIn ? .afterLogin : .beforeLogin
        while true {
            if !framer.isInside {
                guard try skip(bytes, &offset) else { return .incomplete }
                if stage == .stanzas, root.isUsual {
                    let usual = FastPathStanza(
                        bytes, from: offset, limit: min(bytes.byteCount, offset + limits.bytes))
                    work &+= UInt64(usual.end - offset)
                    if usual.isFound, let message = Self.message(usual, in: bytes) {
                        offset = usual.end
                        return .message(message)
                    }
                }
            }
            let start = offset
            guard let end = try framer.advance(bytes, from: start, limits: limits) else {
                work &+= UInt64(bytes.byteCount - start)
                partial.append(bytes.extracting(start..<bytes.byteCount))
                offset = bytes.byteCount
                return .incomplete
            }
            work &+= UInt64(end - start)
            offset = end
            let kind = framer.kind
            let isEmptyTag = framer.isEmptyTag
            let name = framer.hash
            framer.reset()
            if partial.isEmpty {
                let frame = bytes.extracting(start..<end)
                if let event = try complete(kind, frame, name, isEmptyTag: isEmptyTag) { return event }
            } else {
                partial.append(bytes.extracting(start..<end))
                var frame = ByteBuffer()
                swap(&frame, &partial)
                if kind == .stanza, root.isUsual {
                    let usual = FastPathStanza(frame.bytes, from: 0, limit: frame.count)
                    work &+= UInt64(usual.end)
                    if usual.isFound, !usual.isEscaped {
                        return .message(
                            MessageStanza(
                                form: .usable, isError: usual.isError, parts: usual.parts, held: frame,
                                isHeld: true))
                    }
                    if usual.isFound, let message = Self.message(usual, in: frame.bytes) {
                        return .message(message)
                    }
                }
                if let event = try complete(kind, frame.bytes, name, isEmptyTag: isEmptyTag) { return event }
            }
        }
    }

    /// Skips to the next `<`. Returns false if there is none.
    private mutating func skip(_ bytes: RawSpan, _ offset: inout Int) throws(XMLFailure) -> Bool {
        if stage == .ended {
            offset = bytes.byteCount
            return false
        }
        let start = offset
        defer { work &+= UInt64(offset - start) }
        while offset < bytes.byteCount {
            let byte = bytes.byte(at: offset)
            if byte == UInt8(ascii: "<"), mark == 0 || mark >= 3 {
                mark = 255
                return true
            }
            if stage == .header, mark < 3 {
                try skipMark(byte)
            } else if !byte.isXMLSpace, byte != UInt8(ascii: ">") {
                throw stage == .header ? .invalidXML : .badFormat
            }
            offset += 1
        }
        return false
    }

    /// Processes a byte before the first `<`, where a byte order mark is allowed.
    private mutating func skipMark(_ byte: UInt8) throws(XMLFailure) {
        let utf8Mark: StaticString = "\u{FEFF}"
        if byte == utf8Mark.byte(at: Int(mark)) {
            mark += 1
            return
        }
        if byte == 0xFE || byte == 0xFF || byte == 0 { throw .unsupportedEncoding }
        guard mark == 0 else { throw .unsupportedEncoding }
        guard byte.isXMLSpace || byte == UInt8(ascii: ">") else { throw .invalidXML }
        mark = 255
    }

    /// Returns the message of a stanza in the usual shape, or `nil` if a reference in it is malformed.
    @inline(__always)
    private static func message(_ usual: FastPathStanza, in bytes: RawSpan) -> MessageStanza? {
        guard usual.isEscaped else {
            return MessageStanza(
                form: .usable, isError: usual.isError, parts: usual.parts, held: ByteBuffer(), isHeld: false)
        }
        return unescaped(usual, in: bytes)
    }

    @inline(never)
    private static func unescaped(_ usual: FastPathStanza, in bytes: RawSpan) -> MessageStanza? {
        var held = ByteBuffer()
        guard held.appendUnescaped(bytes.extracting(usual.parts.payload.range)) else { return nil }
        var parts = MessageStanza.Parts()
        parts.payload = Slice(0, held.count)
        parts.id = held.appendSlice(usual.parts.id, of: bytes)
        parts.to = held.appendSlice(usual.parts.to, of: bytes)
        parts.from = held.appendSlice(usual.parts.from, of: bytes)
        parts.type = held.appendSlice(usual.parts.type, of: bytes)
        return MessageStanza(form: .usable, isError: usual.isError, parts: parts, held: held, isHeld: true)
    }

    /// Converts a complete frame to an event, or to `nil` for a declaration. `name` is the hash of a header's name.
    @inline(never)
    private mutating func complete(
        _ kind: Framer.Kind, _ frame: RawSpan, _ name: UInt32, isEmptyTag: Bool
    ) throws(XMLFailure) -> StreamEvent? {
        work &+= UInt64(frame.byteCount)
        switch kind {
        case .declaration:
            guard !hasDeclaration else { throw .invalidXML }
            hasDeclaration = true
            try ElementParser.checkDeclaration(frame)
            // After a declaration only a header is allowed.
            stage = .header
            framer.isHeader = true
            return nil
        case .header:
            // A declaration after a header is allowed only if the same header follows again.
            if framer.mayRepeatHeader, framer.root != name { throw .restrictedXML }
            let opened = try StreamRoot.open(frame, isEmptyTag: isEmptyTag)
            root = opened.root
            stage = .stanzas
            hasDeclaration = false
            framer = Framer(isHeader: false, root: name, mayRepeatHeader: !isLoggedIn)
            return .opened(opened.header)
        case .streamEnd:
            guard root.isEnded(by: frame) else { throw .invalidXML }
            stage = .ended
            return .closed
        case .stanza:
            framer.mayRepeatHeader = false
            let element = try ElementParser.element(frame, within: root)
            guard element.matches("message", Namespace.client) else { return .element(element) }
            return .message(MessageStanza(element))
        }
    }
}
