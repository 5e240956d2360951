import Basics

/// An event of `StanzaReader.next`.
public enum StreamEvent: ~Copyable {
    /// All bytes are consumed; the next event needs more.
    case incomplete
    /// A valid stream header; the response header and the features are due.
    case opened(StreamHeader)
    /// A `<message>` of `jabber:client`.
    case message(MessageStanza)
    /// Any other top-level element: auth, response, abort, iq, presence, or an unknown one.
    case element(Element)
    /// The end tag of the stream; further bytes are ignored.
    case closed
}

/// A `<message>`, reduced to what CCS reads: the payload and four attributes.
///
/// In the usual shape nothing is copied: the parts are ranges of the chunk that was passed to `next`, so the accessors
/// take the same chunk again. In any other shape they are ranges of a buffer that the stanza owns.
public struct MessageStanza: ~Copyable {
    /// The shape of the `gcm` child.
    public enum Form: Sendable, Equatable {
        /// One `gcm` with text only: `payload` is that text.
        case usable
        /// No `gcm` child.
        case withoutPayload
        /// More than one `gcm` child; `payload` is the text of the first.
        case severalPayloads
        /// Elements inside `gcm`; `payload` is the text around them.
        case elementsInPayload
    }

    /// The shape of the `gcm` child; all but `usable` are answered by the stanza error `bad-request` (ccs-xmpp 1.8).
    public var form: Form
    /// Whether `type` is `error`; such a message must be ignored and never answered.
    public var isError: Bool
    var parts: Parts
    var held: ByteBuffer
    var isHeld: Bool

    /// The ranges of the parts.
    struct Parts {
        var payload = Slice.absent
        var id = Slice.absent
        var to = Slice.absent
        var from = Slice.absent
        var type = Slice.absent
    }

    /// Returns the text of `gcm`, references resolved; empty if there is none.
    @_lifetime(borrow self, copy chunk)
    public func payload(in chunk: RawSpan) -> RawSpan { bytes(of: parts.payload, in: chunk) }

    /// Returns the attribute `id`, or `nil`.
    public func id(in chunk: RawSpan) -> String? { text(of: parts.id, in: chunk) }
    /// Returns the attribute `to`, or `nil`; CCS does not read it.
    public func to(in chunk: RawSpan) -> String? { text(of: parts.to, in: chunk) }
    /// Returns the attribute `type`, or `nil`; CCS reads only whether it is `error`.
    public func type(in chunk: RawSpan) -> String? { text(of: parts.type, in: chunk) }
    /// Returns the attribute `from`, or `nil`.
    public func from(in chunk: RawSpan) -> String? { text(of: parts.from, in: chunk) }
    /// Whether there is an attribute `from`; cheaper than `from(in:)`, which copies it.
    public var hasFrom: Bool { parts.from.isPresent }

    private func text(of slice: Slice, in chunk: RawSpan) -> String? {
        guard slice.isPresent else { return nil }
        return String(decoding: [UInt8](copying: bytes(of: slice, in: chunk)), as: UTF8.self)
    }

    @_lifetime(borrow self, copy chunk)
    private func bytes(of slice: Slice, in chunk: RawSpan) -> RawSpan {
        guard slice.isPresent else { return chunk.extracting(0..<0) }
        return isHeld ? held.bytes.extracting(slice.range) : chunk.extracting(slice.range)
    }
}

/// A range of bytes in a chunk or buffer.
struct Slice: Equatable {
    var start: UInt32
    var end: UInt32

    static let absent = Slice(start: .max, end: .max)

    @inline(__always)
    init(start: UInt32, end: UInt32) {
        self.start = start
        self.end = end
    }

    @inline(__always)
    init(_ start: Int, _ end: Int) {
        self.start = UInt32(truncatingIfNeeded: start)
        self.end = UInt32(truncatingIfNeeded: end)
    }

    @inline(__always) var isPresent: Bool { start != .max }
    @inline(__always) var range: Range<Int> { Int(start)..<Int(end) }
}

extension MessageStanza {
    /// Creates a message from a parsed element; all parts are copied into one buffer.
    init(_ element: Element) {
        let payloads = element.children.filter { $0.matches("gcm", Namespace.gcm) }
        var held = ByteBuffer()
        parts = Parts()
        parts.payload = held.appendSlice(payloads.first?.text)
        parts.id = held.appendSlice(element["id"])
        parts.to = held.appendSlice(element["to"])
        parts.from = held.appendSlice(element["from"])
        parts.type = held.appendSlice(element["type"])
        form =
            if let payload = payloads.first {
                payloads.count > 1
                    ? .severalPayloads : payload.children.isEmpty ? .usable : .elementsInPayload
            } else {
                .withoutPayload
            }
        isError = element["type"] == "error"
        self.held = held
        isHeld = true
    }
}

extension ByteBuffer {
    /// Appends a text. Returns its range.
    fileprivate mutating func appendSlice(_ text: String?) -> Slice {
        guard let text else { return .absent }
        let start = count
        append(text: text)
        return Slice(start, count)
    }

    /// Appends a part of other bytes. Returns its range.
    mutating func appendSlice(_ slice: Slice, of bytes: borrowing RawSpan) -> Slice {
        guard slice.isPresent else { return .absent }
        let start = count
        append(bytes.extracting(slice.range))
        return Slice(start, count)
    }
}
