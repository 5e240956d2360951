import Basics
public import Wire

/// Reads the answer to one request of the operator API: server-sent events as they arrive, or a whole response.
public struct EventAnswerReader: ~Copyable {
    /// A part of the answer.
    public enum Part: Sendable {
        /// An event, with its data.
        case event(name: String, data: [UInt8])
        /// The whole response, which is not a stream of events.
        case whole(HTTPAnswer)
    }

    private enum State {
        case head
        case events
        case ended
    }

    private var state = State.head
    private var whole = ResponseReader()
    private var buffer = ByteBuffer()
    /// The bytes of `buffer` without the end of an event.
    private var searched = 0

    /// Creates a reader for a new connection.
    public init() {}

    /// Appends bytes from the server.
    public mutating func append(_ bytes: RawSpan) {
        if state == .head { whole.append(bytes) }
        buffer.append(bytes)
    }

    /// Returns the next part, or `nil` if more bytes are needed. Throws if the answer is invalid or longer than the limits.
    public mutating func next() throws(RequestFault) -> Part? {
        if state == .head { try readHead() }
        switch state {
        case .head:
            guard let answer = try whole.next() else { return nil }
            state = .ended
            return .whole(answer)
        case .events: return try event()
        case .ended: return nil
        }
    }

    /// Call at the end of the connection. Returns the response whose body ended with it, or `nil`.
    public mutating func finish() -> HTTPAnswer? {
        guard state == .head else { return nil }
        state = .ended
        return whole.finish()
    }

    /// Recognises the head of a stream of events, which it removes.
    private mutating func readHead() throws(RequestFault) {
        guard let length = end(of: "\r\n\r\n") else { return }
        let text = String(decoding: [UInt8](copying: buffer.bytes.extracting(0..<length)), as: UTF8.self)
        guard text.hasPrefix("HTTP/1.1 200"),
            text.lowercased().contains("\r\ncontent-type: text/event-stream")
        else { return }
        buffer.removeFirst(length)
        searched = 0
        whole = ResponseReader()
        state = .events
    }

    private mutating func event() throws(RequestFault) -> Part? {
        guard let length = end(of: "\n\n") else {
            guard buffer.count <= Limits.Operator.lineBytes else {
                throw RequestFault(.contentTooLarge, "event too long")
            }
            return nil
        }
        let text = [UInt8](copying: buffer.bytes.extracting(0..<length))
        buffer.removeFirst(length)
        searched = 0
        var name = ""
        var data: [UInt8] = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            if let value = Self.value("event: ", of: line) { name = String(decoding: value, as: UTF8.self) }
            if let value = Self.value("data: ", of: line) { data = Array(value) }
        }
        return .event(name: name, data: data)
    }

    private static func value(_ field: StaticString, of line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let length = field.utf8CodeUnitCount
        guard line.count >= length, Array(line.prefix(length)).raw.equals(field) else { return nil }
        return line.dropFirst(length)
    }

    /// Returns where a separator ends in the buffer. Each byte is searched once.
    private mutating func end(of separator: StaticString) -> Int? {
        let length = separator.utf8CodeUnitCount
        while searched + length <= buffer.count {
            if buffer.bytes.extracting(searched..<searched + length).equals(separator) {
                return searched + length
            }
            searched += 1
        }
        return nil
    }
}
