import Basics
public import ClusterLog
public import Wire

/// What `JetStreamClient` reports. The first number is that of a partition.
public enum JetStreamEvent: Sendable {
    // The connection.

    /// A server has accepted the login. Followers and subscriptions go on by themselves.
    case connected(NATSServerInfo)
    /// The connection is lost. Then every open request is reported as failed: it may or may not have had an effect.
    case disconnected(NATSServerAddress, NATSFailure)
    /// An attempt to connect has failed; others follow.
    case attemptFailed(NATSServerAddress, NATSFailure)
    /// The server reports an error, such as a subject that is not permitted.
    case warning(NATSServerError)
    /// The server shuts down soon: the connection ends in a moment.
    case leaving

    // Appending and reading.

    /// A frame is stored on a majority of the replicas.
    case stored(Int, FrameName, at: LogPosition)
    /// A frame was refused, or its answer is missing: a copy may be stored all the same.
    case refused(Int, FrameName, JetStreamFailure)
    /// The record at a position, from the leader.
    case record(Int, LogPosition, [UInt8])
    /// The leader has no record after this position.
    case end(Int, LogPosition)
    /// The record at a position could not be read.
    case readFailed(Int, LogPosition, JetStreamFailure)

    // Following.

    /// The next record of a followed stream.
    case followed(Int, LogPosition, [UInt8])
    /// A follower has received everything up to this position that its replica had; reported after each time it was behind.
    case caughtUp(Int, LogPosition)
    /// A follower gets no answer and goes on asking; with `.removed` it has ended, since records that it needs do not exist any more.
    case followFailed(Int, JetStreamFailure)

    // Streams.

    /// The records up to a position are purged.
    case purged(Int, upTo: LogPosition)
    /// They could not be purged, or whether they are is unknown.
    case purgeFailed(Int, upTo: LogPosition, JetStreamFailure)
    /// The state of a stream, and what is wrong with its configuration.
    case stream(Int, StreamInfo, [StreamProblem])
    /// A stream could not be created or examined.
    case streamFailed(Int, JetStreamFailure)

    // Plain NATS.

    /// A message for a subscription.
    case message(NATSMessage)
}

/// Why a request to JetStream has no good answer.
public enum JetStreamFailure: Error, Hashable, Sendable {
    /// There is no connection, or it was lost before the answer came.
    case disconnected
    /// No answer in time.
    case timedOut
    /// No server answers for the stream: it does not exist, has no leader, or does not allow direct reads.
    case noResponder
    /// JetStream has refused the request.
    case refused(JetStreamError)
    /// The answer could not be read.
    case unreadable
    /// The message is longer than the server allows.
    case tooLong(bytes: Int, limit: Int)
    /// Too many requests or bytes wait for the server.
    case congested
    /// The record was purged or removed; the stream goes on with this position.
    case removed(first: LogPosition)

    /// Whether the stream does not exist.
    public var isStreamNotFound: Bool {
        guard case .refused(let error) = self else { return false }
        return error.code == 10_059
    }
}

extension JetStreamFailure: CustomStringConvertible {
    /// The failure in words, for the log.
    public var description: String {
        switch self {
        case .disconnected: "no connection"
        case .timedOut: "no answer in time"
        case .noResponder: "no server answers for the stream"
        case .refused(let error): "refused: \(Self.words(error))"
        case .unreadable: "unreadable answer"
        case .tooLong(let bytes, let limit):
            "the message has \(bytes) bytes, and max_payload of the server is \(limit)"
        case .congested: "too much waits for the server"
        case .removed(let first): "the record was removed; the stream goes on at \(first.number)"
        }
    }

    private static func words(_ error: JetStreamError) -> String {
        let words = Printable.text(error.description, limit: Limits.NATS.errorCharacters)
        return "\(words) (error \(error.code))"
    }
}

extension JetStreamEvent {
    /// The event for the owner of the partition, or `nil` if there is none. `log` is the key of the partition's log.
    public func ownerEvent(in log: (Int) -> LogKey) -> (partition: Int, event: OwnerEvent)? {
        switch self {
        case .stored(let partition, let name, let position): (partition, .stored(name, at: position))
        case .refused(let partition, let name, _): (partition, .refused(name))
        case .record(let partition, let position, let record):
            (partition, .record(FrameHeader.read(record.raw, in: log(partition)), at: position))
        case .end(let partition, let position): (partition, .end(position))
        case .readFailed(let partition, _, _): (partition, .readFailed)
        default: nil
        }
    }
}
