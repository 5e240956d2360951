public import Basics
public import ClientProtocol
public import Transport

/// A device on a reactor: ten thousand of them fit into one process.
///
/// Used on the reactor's thread only. It keeps over connections what a device keeps: the ids of messages that it has, and
/// messages that the server has not acknowledged, which are sent again with the same ids.
public final class DeviceClient: ConnectionDelegate {
    private let reactor: Reactor
    private let endpoint: Endpoint
    private let acknowledgement: DeviceAcknowledgement
    private var machine: DeviceMachine
    private var connection: Connection?
    private var backoff: Backoff
    private var isEnding = false
    private var wasAskedToGo = false
    private var unstored: [Upstream] = []
    private var isIdle = false
    /// Who this device is.
    public let identity: DeviceIdentity
    /// What is told of everything that happens.
    public var onEvent: ((DeviceClient, DeviceEvent, Now) -> Void)?
    /// Whether it connects again when the connection ends without `close` having been called.
    public var reconnects = false
    /// Seconds between its own signs of life; 0: none.
    public var heartbeatSeconds = 0
    /// Whether each login names every message it ever had (as many as one login may), known to be acknowledged or not.
    public var replays = false
    /// Those messages, while it replays.
    private var history: [[UInt8]] = []

    /// A device that is not connected yet; `received` are the ids that an earlier process left unconfirmed.
    public init(
        reactor: Reactor, endpoint: Endpoint, identity: DeviceIdentity, received: [[UInt8]] = [],
        acknowledgement: DeviceAcknowledgement = .stream
    ) {
        self.reactor = reactor
        self.endpoint = endpoint
        self.identity = identity
        self.acknowledgement = acknowledgement
        machine = DeviceMachine(identity: identity, received: received, acknowledgement: acknowledgement)
        backoff = Backoff(
            floorMilliseconds: Limits.Client.reconnectLeastMilliseconds,
            ceilingMilliseconds: Limits.Client.reconnectMostMilliseconds, seed: SecureRandom.number())
    }

    /// Whether it is logged in.
    public var isReady: Bool { machine.isReady && connection != nil }
    /// Whether there is a connection, ready or not.
    public var isConnected: Bool { connection != nil }
    /// Ids received and not yet known to be acknowledged: to be kept for the next process. All of them where it replays.
    public var unconfirmed: [[UInt8]] { replays ? history : machine.unconfirmed }
    /// Messages that the server has not acknowledged.
    public var waitingUpstream: Int { unstored.count }

    /// Opens the connection and logs in; `.loggedIn`, `.loginRefused` or `.closed` follows.
    public func connect() throws(TransportError) {
        guard connection == nil else { return }
        isEnding = false
        wasAskedToGo = false
        if replays, history.isEmpty { history = machine.unconfirmed }
        machine = DeviceMachine(
            identity: identity, received: unconfirmed, acknowledgement: acknowledgement)
        machine.isIdle = isIdle
        connection = try reactor.connect(
            to: endpoint.address, tls: endpoint.tls, serverName: endpoint.serverName, delegate: self)
    }

    /// Sends a message, at once or after the next login; `.upstreamStored` follows when the server has it.
    public func send(_ message: Upstream) {
        if !message.persistentID.isEmpty { unstored.append(message) }
        if isReady { write { $0.send(message, now: reactor.now.wall, out: &$1) } }
    }

    /// Sends a sign of life.
    public func heartbeat() { if isReady { write { $0.heartbeat(out: &$1) } } }

    /// Says, now, with each sign of life and at later logins, whether nobody uses the device (mcs-device 3.5).
    public func setIdle(_ isIdle: Bool) {
        self.isIdle = isIdle
        machine.isIdle = isIdle
        heartbeat()
    }

    /// Ends its own direction of the connection and goes on listening, as a device that is half gone does.
    public func halfClose() { if isReady { connection?.endOutput() } }

    /// Breaks the connection off without a word, and comes again where it `reconnects`.
    public func breakOff() { connection?.abort(.peerReset) }

    /// Ends the connection in order.
    public func close() {
        isEnding = true
        connection?.close(.responseComplete)
    }

    /// Breaks the connection off without a word.
    public func abort() {
        isEnding = true
        connection?.abort(.peerReset)
    }

    private func write(_ body: (inout DeviceMachine, inout Outbox) -> Void) {
        guard let connection, connection.isOpen else { return }
        body(&machine, &connection.outbox)
        connection.setNeedsFlush()
    }

    private func setHeartbeat(_ now: Now) {
        connection?.deadline =
            heartbeatSeconds > 0 ? now.monotonic.advanced(seconds: heartbeatSeconds) : .distantFuture
    }

    // MARK: ConnectionDelegate

    public func connectionOpened(_ connection: Connection, now: Now) {
        connection.deadline = now.monotonic.advanced(seconds: Limits.Client.answerSeconds)
        write { $0.open(out: &$1) }
    }

    public func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        var events: [DeviceEvent] = []
        machine.receive(bytes, out: &connection.outbox, events: &events)
        for event in events {
            switch event {
            case .loggedIn:
                backoff.reset()
                setHeartbeat(now)
                for message in unstored { machine.send(message, now: now.wall, out: &connection.outbox) }
            case .loginRefused:
                isEnding = true
                connection.close(.loginRefused)
            case .closeRequested:
                wasAskedToGo = true
                connection.close(.peerClosed)
            case .message(let message):
                remember(message.persistentID)
                // What is refused once would be refused again.
                if message.isRefusal { unstored.removeAll { $0.messageID == message["message_id"] } }
            case .upstreamStored(let id):
                unstored.removeAll { $0.persistentID == id }
            default: break
            }
            onEvent?(self, event, now)
        }
        if !connection.outbox.isEmpty { connection.setNeedsFlush() }
    }

    private func remember(_ id: [UInt8]) {
        guard replays, !id.isEmpty, !history.contains(id) else { return }
        if history.count == Limits.MCS.receivedIDs { history.removeFirst() }
        history.append(id)
    }

    public func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}

    public func connectionDeadline(_ connection: Connection, now: Now) {
        guard machine.isReady else { return connection.abort(.loginDeadline) }
        heartbeat()
        setHeartbeat(now)
    }

    public func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        let detail = connection.failure
        self.connection = nil
        onEvent?(self, .closed(reason, detail: detail), now)
        guard reconnects, !isEnding else { return }
        let wait = max(backoff.next(), wasAskedToGo ? Limits.Client.reconnectAfterCloseMilliseconds : 0)
        reactor.schedule(at: now.monotonic.advanced(milliseconds: wait)) { [self] _ in
            if reconnects, !isEnding { try? connect() }
        }
    }
}
