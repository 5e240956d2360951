public import Basics
public import ClientProtocol
public import Transport

/// A device on a reactor; one process can run ten thousand of them.
///
/// Used on the reactor's thread only. Like a real device it retains across connections the IDs of received messages, and
/// its messages that the server has not acknowledged, which are sent again with the same IDs.
public final class DeviceClient: ConnectionDelegate {
    private let reactor: Reactor
    private let endpoint: Endpoint
    private let acknowledgement: DeviceAcknowledgement
    private var machine: DeviceMachine
    private var connection: Connection?
    private var backoff: Backoff
    private var isEnding = false
    private var wasAskedToReconnect = false
    private var unstored: [Upstream] = []
    private var isIdle = false
    /// The identity of the device.
    public let identity: DeviceIdentity
    /// The callback for all events.
    public var onEvent: ((DeviceClient, DeviceEvent, Now) -> Void)?
    /// Whether the device reconnects when the connection ends without a call of `close` or `abort`.
    public var reconnects = false
    /// The heartbeat interval in seconds. 0 disables heartbeats.
    public var heartbeatSeconds = 0
    /// Whether each login lists all messages ever received, even acknowledged ones, up to the limit of a login.
    public var replays = false
    /// The IDs of those messages, if `replays`.
    private var history: [[UInt8]] = []

    /// Creates a device that is not connected yet; `received` are the IDs that an earlier process left unconfirmed.
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
            minimumMilliseconds: Limits.Client.reconnectMinimumMilliseconds,
            maximumMilliseconds: Limits.Client.reconnectMaximumMilliseconds, seed: SecureRandom.number())
    }

    /// Whether the device is logged in.
    public var isReady: Bool { machine.isReady && connection != nil }
    /// Whether there is a connection, logged in or not.
    public var isConnected: Bool { connection != nil }
    /// IDs received but possibly not yet acknowledged, to be saved for the next process; all IDs if `replays`.
    public var unconfirmed: [[UInt8]] { replays ? history : machine.unconfirmed }
    /// The number of messages that the server has not acknowledged.
    public var waitingUpstream: Int { unstored.count }

    /// Opens the connection and logs in; `.loggedIn`, `.loginRefused` or `.closed` follows.
    public func connect() throws(TransportError) {
        guard connection == nil else { return }
        isEnding = false
        wasAskedToReconnect = false
        if replays, history.isEmpty { history = machine.unconfirmed }
        machine = DeviceMachine(
            identity: identity, received: unconfirmed, acknowledgement: acknowledgement)
        machine.isIdle = isIdle
        connection = try reactor.connect(
            to: endpoint.address, tls: endpoint.tls, serverName: endpoint.serverName, delegate: self)
    }

    /// Sends a message, immediately or after the next login; `.upstreamStored` follows when the server has stored it.
    public func send(_ message: Upstream) {
        if !message.persistentID.isEmpty { unstored.append(message) }
        if isReady { write { $0.send(message, now: reactor.now.wall, out: &$1) } }
    }

    /// Sends a heartbeat.
    public func heartbeat() { if isReady { write { $0.heartbeat(out: &$1) } } }

    /// Reports whether the device is idle, now, with each heartbeat and at later logins (mcs-device 3.5).
    public func setIdle(_ isIdle: Bool) {
        self.isIdle = isIdle
        machine.isIdle = isIdle
        heartbeat()
    }

    /// Closes the device's direction of the connection and continues to receive, as a half-closed device does.
    public func halfClose() { if isReady { connection?.endOutput() } }

    /// Closes the connection abruptly, and reconnects if `reconnects`.
    public func dropConnection() { connection?.abort(.peerReset) }

    /// Closes the connection gracefully, without reconnecting.
    public func close() {
        isEnding = true
        connection?.close(.responseComplete)
    }

    /// Closes the connection abruptly, without reconnecting.
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
                wasAskedToReconnect = true
                connection.close(.peerClosed)
            case .message(let message):
                remember(message.persistentID)
                // A refused message would be refused again.
                if message.isRefusal { unstored.removeAll { $0.messageID == message["message_id"] } }
            case .upstreamStored(let id, _):
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
        let wait = max(
            backoff.next(), wasAskedToReconnect ? Limits.Client.reconnectAfterCloseMilliseconds : 0)
        reactor.schedule(at: now.monotonic.advanced(milliseconds: wait)) { [self] _ in
            if reconnects, !isEnding { try? connect() }
        }
    }
}
