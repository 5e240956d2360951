import Basics

/// What JetStream answers to a published message: `{"stream":"S","seq":7}`.
public enum JetStreamPublishAnswer: Hashable, Sendable {
    /// The message is stored at this sequence on a majority of replicas.
    case stored(UInt64)
    /// It was refused; whether a copy is stored is unknown to the publisher.
    case refused(JetStreamError)
    /// No stream has the subject, or its leader is gone (status 503).
    case noResponder
    /// The answer could not be read.
    case unreadable

    /// Reads the answer.
    public init(_ message: NATSMessage) {
        switch JetStreamReply(message) {
        case .noResponder: self = .noResponder
        case .unreadable: self = .unreadable
        case .refused(let error): self = .refused(error)
        case .object(let answer):
            guard let sequence = answer["seq"]?.integer, sequence > 0, answer["stream"]?.text != nil else {
                self = .unreadable
                return
            }
            self = .stored(UInt64(sequence))
        }
    }
}

/// What JetStream answers when a stored message is asked for (`$JS.API.STREAM.MSG.GET.STREAM`).
public enum JetStreamMessageAnswer: Hashable, Sendable {
    /// The message at a sequence.
    case message(sequence: UInt64, payload: [UInt8])
    /// The stream has none at this sequence: it is not stored yet, or was removed.
    case none
    /// An error.
    case refused(JetStreamError)
    /// No server answers for the stream.
    case noResponder
    /// The answer could not be read.
    case unreadable

    /// Code of JetStream for "no message found".
    private static let notFound = 10_037

    /// The subject of the request for messages of a stream.
    public static func subject(stream: String) -> [UInt8] { Array("$JS.API.STREAM.MSG.GET.\(stream)".utf8) }

    /// The request for the message at a sequence.
    public static func request(_ sequence: UInt64) -> [UInt8] { Array("{\"seq\":\(sequence)}".utf8) }

    /// The request for the first message of a subject at a sequence or after it.
    public static func request(from sequence: UInt64, subject: String) -> [UInt8] {
        Array("{\"seq\":\(sequence),\"next_by_subj\":\"\(subject)\"}".utf8)
    }

    /// Reads the answer.
    public init(_ message: NATSMessage) {
        switch JetStreamReply(message) {
        case .noResponder: self = .noResponder
        case .unreadable: self = .unreadable
        case .refused(let error): self = error.code == Self.notFound ? .none : .refused(error)
        case .object(let answer):
            guard let stored = answer["message"], let sequence = stored["seq"]?.integer, sequence > 0,
                let payload = Self.payload(stored)
            else {
                self = .unreadable
                return
            }
            self = .message(sequence: UInt64(sequence), payload: payload)
        }
    }

    /// The content; a message without one has no `data`.
    private static func payload(_ stored: JSONValue) -> [UInt8]? {
        guard let data = stored["data"] else { return [] }
        return data.text.flatMap { Base64.bytes(Array($0.utf8).raw) }
    }
}

/// An error of JetStream: `{"error":{"code":503,"err_code":10077,"description":"…"}}`.
public struct JetStreamError: Hashable, Sendable {
    /// The status, as of HTTP.
    public var status: Int
    /// The code of JetStream; 0 if there is none.
    public var code: Int
    /// A text for people.
    public var description: String

    /// Creates an error.
    public init(status: Int, code: Int, description: String) {
        self.status = status
        self.code = code
        self.description = description
    }

    /// Whether the stream does not exist.
    public var isMissingStream: Bool { code == 10_059 }

    /// Returns the error in an answer, or `nil`.
    fileprivate init?(of answer: JSONValue) {
        guard let error = answer["error"] else { return nil }
        self.init(
            status: error["code"]?.integer ?? 0, code: error["err_code"]?.integer ?? 0,
            description: error["description"]?.text ?? "")
    }
}

/// What all answers of JetStream have in common.
public enum JetStreamReply: Equatable, Sendable {
    /// The answer, a JSON object.
    case object(JSONValue)
    /// An error.
    case refused(JetStreamError)
    /// No server answers for the subject.
    case noResponder
    /// The answer could not be read.
    case unreadable

    /// Reads an answer.
    public init(_ message: NATSMessage) {
        if message.status != nil {
            self = .noResponder
        } else if let answer = try? JSONValue(parsing: message.payload.raw), answer.members != nil {
            self = JetStreamError(of: answer).map { .refused($0) } ?? .object(answer)
        } else {
            self = .unreadable
        }
    }
}
