import Basics
public import ClusterLog
public import Transport
import Wire

/// The client of JetStream for a node that keeps the logs of many partitions, one stream each.
///
/// It is confined to the thread of its reactor, and none of its methods blocks or reports before it returns: events come later, in a
/// turn of the reactor, in order. The owner may call any method while it gets an event. Publications of a turn are sent together at
/// its end.
public final class JetStreamClient {
    private let reactor: Reactor
    private let report: (JetStreamEvent) -> Void
    private var machine: JetStreamMachine
    private var connection: NATSConnection?
    private var isDelivering = false
    private let timer: EarliestTimer

    /// Creates a client that does nothing before `start`.
    public init(
        settings: NATSSettings, names: LogNames = .standard, reactor: Reactor,
        report: @escaping (JetStreamEvent) -> Void
    ) {
        self.reactor = reactor
        timer = EarliestTimer(reactor)
        self.report = report
        machine = JetStreamMachine(names: names)
        connection = NATSConnection(settings: settings, reactor: reactor, seed: SecureRandom.number()) {
            [weak self] in self?.handle($0)
        }
    }

    // MARK: Connection

    /// Connects, and keeps connecting until `stop`.
    public func start() { connection?.start() }

    /// Sends what waits, and closes the connection. Open requests are reported as failed.
    public func stop() { connection?.stop() }

    /// Ends the connection to a server that does not help, and tries the others first. `.disconnected` follows.
    public func leave() { connection?.leave() }

    /// Whether requests can be sent.
    public var isConnected: Bool { machine.isConnected }

    /// The server that the client is connected to, or `nil`.
    public var server: NATSServerInfo? { connection?.serverInfo }

    // MARK: The log of a partition

    /// Appends a frame to the stream of a partition, without any condition. `.stored` or `.refused` follows.
    public func append(_ frame: [UInt8], _ name: FrameName, to partition: Int) {
        let room = connection?.outboundRoom ?? 0
        call { $0.append(frame, name, to: partition, room: room, now: $1) }
    }

    /// Reads the record at a position from the leader. `.record`, `.end` or `.readFailed` follows.
    public func read(_ position: LogPosition, of partition: Int) {
        call { $0.read(position, of: partition, now: $1) }
    }

    /// Reports every record after a position in order, by `.followed`, from now on and over lost connections. A follower that exists
    /// for the partition starts anew.
    public func follow(_ partition: Int, after position: LogPosition) {
        call { $0.follow(partition, after: position, now: $1) }
    }

    /// Ends `follow`. No further record of the partition is reported, unless it is in the same turn.
    public func stopFollowing(_ partition: Int) { call { machine, _ in machine.stopFollowing(partition) } }

    /// Asks for no more records, for an owner that is slow; those of the current batch still come, 1 MiB at most.
    public func pauseFollowing(_ partition: Int) { call { machine, _ in machine.pauseFollowing(partition) } }

    /// Goes on after `pauseFollowing`.
    public func resumeFollowing(_ partition: Int) { call { $0.resumeFollowing(partition, now: $1) } }

    /// How many records a replica has that the follower of a partition has not received; `nil` if that is unknown.
    public func recordsBehind(_ partition: Int) -> UInt64? { machine.followers[partition]?.behind }

    /// Removes the records up to a position for ever. `.purged` or `.purgeFailed` follows.
    public func purge(upTo position: LogPosition, of partition: Int) {
        call { $0.purge(upTo: position, of: partition, now: $1) }
    }

    /// Creates the stream of a partition if it does not exist. `.stream` follows with what is wrong with an existing one, or
    /// `.streamFailed`.
    public func createStream(_ partition: Int, _ settings: StreamSettings) {
        call { $0.create(partition, settings, now: $1) }
    }

    /// Asks for the state of a stream, and compares its configuration. `.stream` or `.streamFailed` follows.
    public func examineStream(_ partition: Int, _ settings: StreamSettings) {
        call { $0.examine(partition, settings, now: $1) }
    }

    // MARK: Plain NATS

    /// Publishes a message that is not stored. Returns false if there is no connection or it is too long. Requires a valid subject.
    @discardableResult
    public func publish(_ payload: [UInt8], to subject: String) -> Bool {
        let subject = Array(subject.utf8)
        var isSent = false
        call { machine, _ in isSent = machine.publish(payload, to: subject) }
        return isSent
    }

    /// Subscribes to a subject until `unsubscribe`, also on later connections. Returns the number in the messages, or `nil` if there
    /// are too many subscriptions. Requires a valid subject.
    public func subscribe(_ subject: String) -> UInt64? {
        let subject = Array(subject.utf8)
        var number: UInt64?
        call { machine, _ in number = machine.subscribe(subject) }
        return number
    }

    /// Ends a subscription.
    public func unsubscribe(_ number: UInt64) { call { machine, _ in machine.unsubscribe(number) } }

    // MARK: Machinery

    private func handle(_ found: NATSConnection.Report) {
        let now = reactor.now.monotonic
        switch found {
        case .connected(let info):
            machine.connected(
                info, inbox: "_INBOX.\(Base32.text(SecureRandom.bytes(15)))", now: now)
        case .disconnected(let server, let failure): machine.disconnected(server, failure)
        case .attemptFailed(let server, let failure): machine.events.append(.attemptFailed(server, failure))
        case .message(let message): machine.received(message, now: now)
        case .warning(let error): machine.events.append(.warning(error))
        case .leaving: machine.events.append(.leaving)
        }
        perform()
        deliver()
    }

    /// Calls the machine for the owner: its events come in a later step.
    private func call(_ body: (inout JetStreamMachine, Instant) -> Void) {
        body(&machine, reactor.now.monotonic)
        perform()
        guard !machine.events.isEmpty, !isDelivering else { return }
        arm(at: reactor.now.monotonic)
    }

    /// Sends what the machine wants to send.
    private func perform() {
        if !machine.commands.isEmpty {
            let commands = machine.commands
            machine.commands = []
            for command in commands {
                switch command {
                case .publish(let payload, let subject, let reply):
                    connection?.publish(payload.raw, to: subject, reply: reply)
                case .subscribe(let subject, let number): connection?.subscribe(subject, as: number)
                case .unsubscribe(let number): connection?.unsubscribe(number)
                }
            }
        }
        arm(at: machine.nextTick)
    }

    /// Reports the events. Those that come while the owner handles them are for the next turn, so that no owner stops the reactor.
    private func deliver() {
        guard !isDelivering else { return }
        isDelivering = true
        let events = machine.events
        machine.events = []
        for event in events { report(event) }
        isDelivering = false
        if !machine.events.isEmpty { arm(at: reactor.now.monotonic) }
    }

    private func arm(at next: Instant) {
        timer.set(at: next) { [weak self] now in
            guard let self else { return }
            self.machine.tick(now: now.monotonic)
            self.perform()
            self.deliver()
        }
    }
}
