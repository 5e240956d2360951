import Basics
import Client
import Transport

/// The client of a play: writes given bytes and collects the received records.
final class PlayPeer: ConnectionDelegate {
    private let reactor: Reactor
    private var connection: Connection?
    private var isOpen = false
    private var records: [[UInt8]] = []

    /// Connects to a daemon's app server port.
    init(_ daemon: RunningDaemon, reactor: Reactor) throws {
        self.reactor = reactor
        let tls = try TLSClientSettings(trust: .file(daemon.authority))
        let endpoint = try Endpoint(host: "127.0.0.1", port: UInt16(daemon.port("app_server")), tls: tls)
        connection = try reactor.connect(to: endpoint.address, tls: endpoint.tls, delegate: self)
        guard reactor.turn(seconds: 20, until: { isOpen }) else { throw HarnessFailure("no TLS handshake") }
    }

    /// Writes bytes as one TLS record.
    func write(_ bytes: [UInt8]) {
        guard let connection, connection.isOpen else { return }
        connection.outbox.bytes.append(bytes.raw)
        connection.outbox.endRecord()
        connection.setNeedsFlush()
    }

    /// Returns the next record, or `nil` if the connection ends or the deadline passes.
    func nextRecord(seconds: Int) -> [UInt8]? {
        _ = reactor.turn(seconds: seconds) { !records.isEmpty || connection == nil }
        return records.isEmpty ? nil : records.removeFirst()
    }

    /// Waits for the end of the connection. Returns whether it ended without another record.
    func waitForEnd(seconds: Int) -> Bool {
        reactor.turn(seconds: seconds) { connection == nil } && records.isEmpty
    }

    /// Drops the connection.
    func drop() { connection?.abort(.peerReset) }

    func connectionOpened(_ connection: Connection, now: Now) { isOpen = true }
    func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        records.append([UInt8](copying: bytes))
    }
    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}
    func connectionDeadline(_ connection: Connection, now: Now) {}
    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) { self.connection = nil }
}
