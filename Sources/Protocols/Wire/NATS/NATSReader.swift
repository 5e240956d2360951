import Basics

/// A message that a NATS server delivers (`MSG`, `HMSG`).
public struct NATSMessage: Hashable, Sendable {
    /// The subject that it was published to.
    public var subject: [UInt8]
    /// The number of the subscription that it was delivered for.
    public var subscription: UInt64
    /// Where an answer goes, or `nil`.
    public var reply: [UInt8]?
    /// The status of a message without a publisher, such as 503: no subscriber has the subject. `nil` for others.
    public var status: Int?
    /// The headers as they were sent, with their first line; empty for a message without headers.
    public var headers: [UInt8]
    /// The content without headers.
    public var payload: [UInt8]

    /// Creates a message.
    public init(
        subject: [UInt8], subscription: UInt64, reply: [UInt8]? = nil, status: Int? = nil,
        headers: [UInt8] = [], payload: [UInt8]
    ) {
        self.subject = subject
        self.subscription = subscription
        self.reply = reply
        self.status = status
        self.headers = headers
        self.payload = payload
    }

    /// Returns the number in a header such as `nats-sequence`, given in lower case. Returns `nil` if there is none.
    public func number(_ name: StaticString) -> UInt64? {
        let length = name.utf8CodeUnitCount
        for line in headers.split(whereSeparator: { $0 == 0x0D || $0 == 0x0A }) {
            let line = Array(line)
            guard line.count > length, line[length] == UInt8(ascii: ":"),
                ASCII.equals(line.raw.extracting(0..<length), ignoringCase: name)
            else { continue }
            let value = Array(line[(length + 1)...].drop { $0 == 0x20 || $0 == 0x09 })
            return NATSReader.number(value)
        }
        return nil
    }
}

/// What a NATS server sends.
public enum NATSEvent: Hashable, Sendable {
    /// The description of the server, first at the start of a connection, later after changes of the cluster: a JSON object.
    case info([UInt8])
    case message(NATSMessage)
    /// The server wants a `PONG`.
    case ping
    /// The answer to a `PING`: everything sent before it has been handled.
    case pong
    /// The server has accepted a command; only in verbose mode.
    case ok
    /// An error. After most of them, the server closes the connection.
    case error([UInt8])
}

/// Why the stream of a NATS server cannot be read. The connection must be closed.
public enum NATSFault: Error, Hashable, Sendable {
    /// A line is longer than `Limits.NATS` allows.
    case lineTooLong
    /// A message is longer than `Limits.NATS.messageBytes`.
    case messageTooLong(Int)
    /// A line that no server sends.
    case unknownLine
    /// A message without subject, subscription or length, or with other ones than numbers.
    case badMessage
}

/// Splits the byte stream of a NATS server into events (the client protocol of NATS, which is lines of text).
public struct NATSReader: ~Copyable {
    private var buffer = ByteBuffer()
    /// Where the unread bytes begin: those before are removed when more arrive, and not with each message.
    private var start = 0
    /// The message whose content is incomplete: its head, and the lengths of headers and of all.
    private var head: (message: NATSMessage, headers: Int, length: Int)?

    /// Creates a reader for a new connection.
    public init() {}

    /// Bytes of what is incomplete.
    public var heldBytes: Int { buffer.count - start }

    /// Appends bytes from the server.
    public mutating func append(_ bytes: borrowing RawSpan) {
        buffer.removeFirst(start)
        start = 0
        buffer.append(bytes)
    }

    /// Marks the next bytes as read, and frees the memory once all are.
    private mutating func skip(_ count: Int) {
        start += count
        guard start == buffer.count else { return }
        buffer.removeAll()
        start = 0
    }

    /// Returns the next event, or `nil` if more bytes are needed.
    public mutating func next() throws(NATSFault) -> NATSEvent? {
        if head == nil {
            guard let end = try endOfLine() else { return nil }
            let line = [UInt8](copying: buffer.bytes.extracting(start..<start + end))
            skip(end + 2)
            if let event = try Self.event(line) { return event }
            head = try Self.head(line)
        }
        return try message()
    }

    /// The length of the first line without CR LF, or `nil` while it is incomplete.
    private func endOfLine() throws(NATSFault) -> Int? {
        let isInfo =
            heldBytes >= 4
            && ASCII.equals(buffer.bytes.extracting(start..<start + 4), ignoringCase: "info")
        let limit = isInfo ? Limits.NATS.infoBytes : Limits.NATS.lineBytes
        var at = 0
        while at + 1 < heldBytes, at <= limit {
            if buffer.bytes.byte(at: start + at) == 0x0D, buffer.bytes.byte(at: start + at + 1) == 0x0A {
                return at
            }
            at += 1
        }
        guard heldBytes <= limit + 1 else { throw .lineTooLong }
        return nil
    }

    /// Splits a line at its first blank.
    private static func split(_ line: [UInt8]) -> (word: [UInt8], rest: [UInt8]) {
        let end = line.firstIndex { $0 == 0x20 || $0 == 0x09 } ?? line.count
        return (Array(line[..<end]), Array(line[min(end + 1, line.count)...]))
    }

    /// Reads a line that is no head of a message. Returns `nil` for others.
    private static func event(_ line: [UInt8]) throws(NATSFault) -> NATSEvent? {
        let (word, rest) = split(line)
        if ASCII.equals(word.raw, ignoringCase: "ping") { return .ping }
        if ASCII.equals(word.raw, ignoringCase: "pong") { return .pong }
        if ASCII.equals(word.raw, ignoringCase: "+ok") { return .ok }
        if ASCII.equals(word.raw, ignoringCase: "info") { return .info(rest) }
        if ASCII.equals(word.raw, ignoringCase: "-err") {
            let quote = UInt8(ascii: "'")
            let isQuoted = rest.count >= 2 && rest.first == quote && rest.last == quote
            return .error(isQuoted ? Array(rest.dropFirst().dropLast()) : rest)
        }
        guard ASCII.equals(word.raw, ignoringCase: "msg") || ASCII.equals(word.raw, ignoringCase: "hmsg")
        else { throw .unknownLine }
        return nil
    }

    /// Reads `MSG subject subscription [reply] length`, or `HMSG` with the length of the headers before.
    private static func head(
        _ line: [UInt8]
    ) throws(NATSFault) -> (message: NATSMessage, headers: Int, length: Int) {
        var fields = line.split { $0 == 0x20 || $0 == 0x09 }.map { Array($0) }
        let hasHeaders = fields.removeFirst().count == 4
        let counts = hasHeaders ? 2 : 1
        guard (2 + counts...3 + counts).contains(fields.count),
            let subscription = number(fields[1]), let length = number(fields[fields.count - 1])
        else { throw .badMessage }
        guard length <= UInt64(Limits.NATS.messageBytes) else { throw .messageTooLong(Int(clamping: length)) }
        let headers = hasHeaders ? number(fields[fields.count - 2]) : 0
        guard let headers, headers <= length else { throw .badMessage }
        let message = NATSMessage(
            subject: fields[0], subscription: subscription,
            reply: fields.count == 3 + counts ? fields[2] : nil, payload: [])
        return (message, Int(headers), Int(length))
    }

    /// Completes the message whose head was read. Returns `nil` while its content is incomplete.
    private mutating func message() throws(NATSFault) -> NATSEvent? {
        guard let (head, headers, length) = head, heldBytes >= length + 2 else { return nil }
        let end = start + length
        guard buffer.bytes.byte(at: end) == 0x0D, buffer.bytes.byte(at: end + 1) == 0x0A else {
            throw .badMessage
        }
        var message = head
        message.status = Self.status(buffer.bytes.extracting(start..<start + headers))
        message.headers = [UInt8](copying: buffer.bytes.extracting(start..<start + headers))
        message.payload = [UInt8](copying: buffer.bytes.extracting(start + headers..<end))
        skip(length + 2)
        self.head = nil
        return .message(message)
    }

    /// The status in the first line of headers, `NATS/1.0 503 No Responders`.
    private static func status(_ headers: borrowing RawSpan) -> Int? {
        let line = [UInt8](copying: headers).prefix { $0 != 0x0D }
        let words = line.split(separator: 0x20)
        guard words.count >= 2, ASCII.equals(Array(words[0]).raw, ignoringCase: "nats/1.0") else {
            return nil
        }
        return number(Array(words[1])).map { Int(clamping: $0) }
    }

    static func number(_ digits: [UInt8]) -> UInt64? {
        guard let value = JSONReader.integer(digits.raw), value >= 0 else { return nil }
        return UInt64(value)
    }
}
