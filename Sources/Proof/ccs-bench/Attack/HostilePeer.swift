import Basics
import Transport

/// One hostile connection: it plays its script until it is closed or the attack is over.
final class HostilePeer: ConnectionDelegate {
    private unowned let crowd: HostileCrowd
    private let script: HostileScript
    private var input: [UInt8] = []
    private var frames = HTTP2FrameScanner()
    private var turn = 0
    private var block = 0
    private(set) var connection: Connection?
    /// Pending output in bytes above which the flood pauses: the server does not read.
    private static let waitingBytes = 262_144
    /// Bytes of a response that are searched for the awaited text.
    private static let searchedBytes = 65_536

    init(_ crowd: HostileCrowd, _ script: HostileScript) {
        self.crowd = crowd
        self.script = script
    }

    /// Connects, from its own source address.
    func connect(from source: SocketAddress) throws(TransportError) {
        connection = try crowd.bench.reactor.connect(
            to: crowd.address(of: script.listener), from: source, tls: crowd.settings(for: script.tlsMode),
            serverName: "localhost", delegate: self)
    }

    func connectionOpened(_ connection: Connection, now: Now) {
        crowd.opened += 1
        send(script.opening)
        if script.turns.isEmpty { beginFlood(now) }
    }

    func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        crowd.countResponse(bytes)
        if script.tlsMode == .http2 { frames.consume(bytes) { crowd.countFrame(type: $0) } }
        guard turn < script.turns.count, input.count < Self.searchedBytes else { return }
        input += [UInt8](copying: bytes)
        let awaited = script.turns[turn].awaited
        let text = input
        guard awaited.utf8CodeUnitCount == 0 || Bytes.contains(text.raw, awaited) else { return }
        input = []
        send(script.turns[turn].answer)
        turn += 1
        if turn == script.turns.count { beginFlood(now) }
    }

    private func beginFlood(_ now: Now) {
        crowd.flooding += 1
        if !script.reads { connection?.isReading = false }
        connection?.deadline = now.monotonic
    }

    func connectionDeadline(_ connection: Connection, now: Now) {
        guard let make = script.block, block < script.blocks, connection.isOpen else { return }
        if connection.outboundCount < Self.waitingBytes {
            send(make(block))
            crowd.blocks += 1
            block += 1
        }
        connection.deadline = now.monotonic.advanced(milliseconds: script.pauseMilliseconds)
    }

    private func send(_ bytes: [UInt8]) {
        guard let connection, connection.isOpen, !bytes.isEmpty else { return }
        crowd.bytes += bytes.count
        connection.outbox.bytes.append(bytes)
        connection.outbox.endRecord()
        connection.setNeedsFlush()
    }

    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}

    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        self.connection = nil
        crowd.remove(self)
    }
}
