import Basics
import Client
import Transport

/// All hostile connections of one attack: a fixed number at once; a closed one is replaced.
final class HostileCrowd {
    let bench: Bench
    private let target: DaemonTarget
    private let wanted: Int
    private let perSecond: Int
    private let make: (Int) -> HostileScript
    private let http2: TLSClientSettings
    private var peers: [ObjectIdentifier: HostilePeer] = [:]
    private var begin: Instant?
    private var isOver = false
    /// Connections started.
    private(set) var begun = 0
    /// Of these, those that were open for data.
    var opened = 0
    /// Of these, those that reached their flood.
    var flooding = 0
    /// Blocks of floods that were sent.
    var blocks = 0
    var bytes = 0
    private(set) var receivedBytes = 0
    /// Responses, by their first words.
    private(set) var answers: [String: Int] = [:]
    /// Handshakes started in one turn: the good peers use the same thread.
    private static let perTurn = 16

    /// Creates a crowd of `wanted` connections, of which at most `perSecond` are opened in a second.
    init(
        _ target: DaemonTarget, wanted: Int, perSecond: Int, _ make: @escaping (Int) -> HostileScript
    ) throws(BenchError) {
        bench = target.bench
        self.target = target
        self.wanted = wanted
        self.perSecond = perSecond
        self.make = make
        do throws(TransportError) {
            http2 = try TLSClientSettings(trust: .anyone, applicationProtocols: ["h2"])
        } catch { throw BenchError(error.description) }
    }

    /// Connections in progress.
    var present: Int { peers.count }

    /// Opens connections that are due.
    func openDue(_ now: Instant) throws(BenchError) {
        guard !isOver else { return }
        let begin = begin ?? now
        self.begin = begin
        let allowed = wanted + Int(now.milliseconds(since: begin)) * perSecond / 1_000
        for _ in 0..<Self.perTurn where peers.count < wanted && begun < allowed {
            let peer = HostilePeer(self, make(begun))
            do throws(TransportError) {
                try peer.connect(from: source(begun))
            } catch { throw BenchError(error.description) }
            begun += 1
            peers[ObjectIdentifier(peer)] = peer
        }
    }

    /// Breaks all connections off.
    func disperse() {
        isOver = true
        for peer in peers.values { peer.connection?.abort(.peerReset) }
        _ = bench.turn(seconds: 5) { peers.isEmpty }
    }

    /// Returns a loopback address for each connection, distinct from that of the good peers.
    private func source(_ number: Int) -> SocketAddress {
        .ipv4(0x7f01_0001 + UInt32(number % 0xfe_0000), port: 0)
    }

    func address(of listener: HostileScript.Listener) -> SocketAddress {
        switch listener {
        case .appServers: target.appServers
        case .devices: target.devices
        case .https: target.https
        }
    }

    func settings(for tlsMode: HostileScript.TLSMode) -> TLSClientSettings? {
        switch tlsMode {
        case .none: nil
        case .tls: bench.tls
        case .http2: http2
        }
    }

    /// Counts received bytes by their first words.
    func countResponse(_ bytes: RawSpan) {
        receivedBytes += bytes.byteCount
        let words: String? =
            if bytes.byteCount >= 12, bytes.extracting(0..<9).equals("HTTP/1.1 ") {
                "HTTP " + String(decoding: [UInt8](copying: bytes.extracting(9..<12)), as: UTF8.self)
            } else if Bytes.contains(bytes, "<failure") {
                "<failure>"
            } else if Bytes.contains(bytes, "\"nack\"") {
                "nack"
            } else if Bytes.contains(bytes, "\"ack\"") {
                "ack"
            } else { nil }
        if let words { answers[words, default: 0] += 1 }
    }

    /// Counts a received HTTP/2 frame if it ends a connection or a stream.
    func countFrame(type: UInt8) {
        switch type {
        case 3: answers["RST_STREAM", default: 0] += 1
        case 7: answers["GOAWAY", default: 0] += 1
        default: break
        }
    }

    /// The attackers' counts.
    var evidence: AttackEvidence {
        AttackEvidence(
            begun: begun, blocks: blocks, receivedBytes: receivedBytes, stillConnected: present,
            answers: answers)
    }

    /// Removes a connection that has ended.
    func remove(_ peer: HostilePeer) { peers[ObjectIdentifier(peer)] = nil }
}
