import Basics
import ClusterLog
import Wire

/// What `JetStreamClient` decides: which requests are open, what their answers mean, and what followers ask for. It has no socket and
/// no clock.
struct JetStreamMachine {
    /// What is to be sent.
    enum Command: Hashable {
        case publish([UInt8], to: [UInt8], reply: [UInt8]?)
        case subscribe([UInt8], as: UInt64)
        case unsubscribe(UInt64)
    }

    /// The subscription for all answers.
    static let inboxSubscription: UInt64 = 1

    let names: LogNames
    /// To be sent in this order.
    var commands: [Command] = []
    /// To be reported in this order.
    var events: [JetStreamEvent] = []
    var requests = RequestTable()
    var followers: [Int: Follower] = [:]
    /// No follower has anything to do before this time.
    var followTick = Instant.distantFuture
    /// The settings of the streams that are being created or examined.
    var settings: [Int: StreamSettings] = [:]
    private var subscriptions: [UInt64: [UInt8]] = [:]
    private var lastSubscription = inboxSubscription
    /// What the subjects of answers begin with on this connection, with the last dot, and the limit for payloads; `nil` without one.
    private(set) var connection: (inbox: [UInt8], maximumPayload: Int)?

    init(names: LogNames) { self.names = names }

    var isConnected: Bool { connection != nil }

    /// When `tick` is due.
    var nextTick: Instant { min(requests.nextDeadline, followTick) }

    // MARK: Connection

    /// A server has accepted the login. `inbox` is a subject that no one else can guess.
    mutating func connected(_ info: NATSServerInfo, inbox: String, now: Instant) {
        connection = (Array("\(inbox).".utf8), info.maximumPayload)
        commands.append(.subscribe(Array("\(inbox).*".utf8), as: Self.inboxSubscription))
        for (number, subject) in subscriptions.sorted(by: { $0.key < $1.key }) {
            commands.append(.subscribe(subject, as: number))
        }
        events.append(.connected(info))
        for partition in followers.keys.sorted() { ask(partition, now) }
    }

    /// The connection is lost.
    mutating func disconnected(_ server: NATSServerAddress, _ failure: NATSFailure) {
        connection = nil
        commands = []
        events.append(.disconnected(server, failure))
        for request in requests.removeAll() { fail(request, .disconnected) }
        for partition in followers.keys { followers[partition]?.state = .disconnected }
        followTick = .distantFuture
    }

    /// Time has passed.
    mutating func tick(now: Instant) {
        for request in requests.removeExpired(now: now) {
            fail(request, .timedOut)
            if case .first(let partition) = request { wait(partition, now) }
        }
        guard followTick <= now else { return }
        tickFollowers(now)
    }

    // MARK: Requests

    /// Sends a request. Returns its number, or `nil` after it has reported the failure.
    @discardableResult
    mutating func send(
        _ request: OpenRequest, _ payload: [UInt8], to subject: String, now: Instant
    ) -> UInt64? {
        guard let (inbox, maximumPayload) = connection else {
            fail(request, .disconnected)
            return nil
        }
        guard payload.count <= maximumPayload else {
            fail(request, .tooLong(bytes: payload.count, limit: maximumPayload))
            return nil
        }
        guard let number = requests.add(request, now: now) else {
            fail(request, .congested)
            return nil
        }
        commands.append(.publish(payload, to: Array(subject.utf8), reply: inbox + Array("\(number)".utf8)))
        return number
    }

    /// Reports that a request has failed.
    mutating func fail(_ request: OpenRequest, _ failure: JetStreamFailure) {
        switch request {
        case .append(let partition, let name): events.append(.refused(partition, name, failure))
        case .read(let partition, let position), .readDirectly(let partition, let position):
            events.append(.readFailed(partition, position, failure))
        case .batch(let partition), .first(let partition): followerFailed(partition, failure)
        case .purge(let partition, let position):
            events.append(.purgeFailed(partition, upTo: position, failure))
        case .create(let partition), .examine(let partition):
            events.append(.streamFailed(partition, failure))
        }
    }

    /// Appends a frame to the stream of a partition. `room` is what may still wait for the server.
    mutating func append(
        _ frame: [UInt8], _ name: FrameName, to partition: Int, room: Int, now: Instant
    ) {
        let request = OpenRequest.append(partition, name)
        guard frame.count <= room || !isConnected else { return fail(request, .congested) }
        send(request, frame, to: names.subject(partition), now: now)
    }

    /// Reads the record at a position from the leader.
    mutating func read(_ position: LogPosition, of partition: Int, now: Instant) {
        sendRead(.read(partition, position), position, partition, now)
    }

    /// Asks the leader for the first record at or after a position.
    @discardableResult
    mutating func sendRead(
        _ request: OpenRequest, _ position: LogPosition, _ partition: Int, _ now: Instant
    ) -> UInt64? {
        let payload = JetStreamMessageAnswer.request(
            from: position.number, subject: names.subject(partition))
        let subject = JetStreamMessageAnswer.subject(stream: names.stream(partition))
        return send(request, payload, to: String(decoding: subject, as: UTF8.self), now: now)
    }

    /// Reads the record at a position from any replica.
    mutating func readDirectly(_ position: LogPosition, of partition: Int, now: Instant) {
        send(
            .readDirectly(partition, position), JetStreamMessageAnswer.request(position.number),
            to: "$JS.API.DIRECT.GET.\(names.stream(partition))", now: now)
    }

    /// Removes the records up to a position.
    mutating func purge(upTo position: LogPosition, of partition: Int, now: Instant) {
        send(
            .purge(partition, upTo: position), Array("{\"seq\":\(position.next.number)}".utf8),
            to: "$JS.API.STREAM.PURGE.\(names.stream(partition))", now: now)
    }

    /// Creates the stream of a partition if it does not exist, and reports its state.
    mutating func create(_ partition: Int, _ settings: StreamSettings, now: Instant) {
        self.settings[partition] = settings
        send(
            .create(partition),
            settings.request(stream: names.stream(partition), subject: names.subject(partition)),
            to: "$JS.API.STREAM.CREATE.\(names.stream(partition))", now: now)
    }

    /// Reports the state of the stream of a partition.
    mutating func examine(_ partition: Int, _ settings: StreamSettings, now: Instant) {
        self.settings[partition] = settings
        send(.examine(partition), [], to: "$JS.API.STREAM.INFO.\(names.stream(partition))", now: now)
    }

    // MARK: Plain NATS

    /// Subscribes to a subject on this connection and all later ones. Returns `nil` if there are too many subscriptions.
    mutating func subscribe(_ subject: [UInt8]) -> UInt64? {
        guard subscriptions.count < Limits.NATSConnection.subscriptions else { return nil }
        lastSubscription += 1
        subscriptions[lastSubscription] = subject
        if isConnected { commands.append(.subscribe(subject, as: lastSubscription)) }
        return lastSubscription
    }

    mutating func unsubscribe(_ number: UInt64) {
        guard subscriptions.removeValue(forKey: number) != nil, isConnected else { return }
        commands.append(.unsubscribe(number))
    }

    /// Publishes a message that is not stored. Returns false if there is no connection or it is too long.
    mutating func publish(_ payload: [UInt8], to subject: [UInt8]) -> Bool {
        guard let connection, payload.count <= connection.maximumPayload else { return false }
        commands.append(.publish(payload, to: subject, reply: nil))
        return true
    }
}
