import APNsGateway
import Basics
import Transport
import Wire

/// One connection to Apple, confined to the gateway's thread: TCP, TLS and HTTP/2.
///
/// Its life: `start`, then either `.openFailed` or `.opened`; after that the other events, and `.closed` as the last one.
final class APNsLink: ConnectionDelegate {
    /// Where and how to connect.
    struct Target {
        var address: APNsAddress
        var tls: TLSClientSettings
        /// Whether `tls` has a client certificate, which the server may refuse.
        var hasCertificate = false
    }

    /// An event for the owner.
    enum Report {
        case opened
        /// The connection could not be made, for this reason.
        case openFailed(APNsOpenFailure, words: String)
        /// As many further requests can be sent now.
        case streams(Int)
        case answered(UInt64, HTTPAnswer, microseconds: Int)
        case failed(UInt64, HTTP2RequestFailure)
        /// Apple accepts no more requests here; contains its reason.
        case leaving([UInt8])
        /// The server has closed the connection because of the client certificate, as TLS permits after the opening.
        case certificateRefused(words: String)
        /// The connection is closed, for this reason. `isFault`: the other end does not behave as Apple.
        case closed(words: String, isFault: Bool = false)
    }

    private struct Sent {
        var number: UInt64
        var at: Instant
    }

    private let reactor: Reactor
    private let report: (APNsLink, Report) -> Void
    private let target: Target
    /// The addresses that have not been tried yet.
    private var addresses: ArraySlice<SocketAddress> = []
    private var connection: Connection?
    private var http2: HTTP2ClientConnection?
    private var sent: [UInt32: Sent] = [:]
    private var streamReport = StreamReport()
    private var isCongested = false
    private var isEnded = false
    /// Whether `pump` has something to do.
    private(set) var needsPump = false
    /// Whether more than one turn's share is to be written: the next share follows after the flush.
    private var hasMore = false

    init(target: Target, reactor: Reactor, report: @escaping (APNsLink, Report) -> Void) {
        self.target = target
        self.reactor = reactor
        self.report = report
    }

    // MARK: Connecting

    /// Connects to the first address that accepts.
    func start(_ addresses: [SocketAddress]) {
        self.addresses = addresses[...]
        connectNext(.unreachable, "no address")
    }

    /// Ends an attempt that has no addresses.
    func fail(_ words: String) { end(.unreachable, words) }

    private func connectNext(_ failure: APNsOpenFailure, _ words: String) {
        guard !isEnded else { return }
        guard let address = addresses.popFirst() else { return end(failure, words) }
        do throws(TransportError) {
            connection = try reactor.connect(
                to: address, tls: target.tls, serverName: target.address.host, pace: .apns, delegate: self)
        } catch {
            connectNext(.unreachable, error.description)
        }
    }

    private func end(_ failure: APNsOpenFailure, _ words: String) {
        guard !isEnded else { return }
        isEnded = true
        report(self, .openFailed(failure, words: words))
    }

    func connectionOpened(_ connection: Connection, now: Now) {
        guard !isEnded else { return connection.abort(.operatorRequest) }
        if let problem = HandshakeVerdict.problem(ofProtocol: connection.applicationProtocol) {
            connection.abort(.protocolViolation)
            return end(.notHTTP2, problem)
        }
        // A connection with provider tokens has one stream until the first request is accepted (apns 1.8).
        http2 = HTTP2ClientConnection(
            authority: target.address.authority, firstStreams: 1, now: now.monotonic)
        report(self, .opened)
        needsPump = true
    }

    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        guard connection === self.connection else { return }
        self.connection = nil
        let words = connection.failure.isEmpty ? reason.rawValue : connection.failure
        guard let http2 else {
            let failure = HandshakeVerdict.failure(
                words, inHandshake: reason == .handshakeFailed, hasCertificate: target.hasCertificate)
            return connectNext(failure, HandshakeVerdict.words(words))
        }
        if target.hasCertificate, HandshakeVerdict.refusesCertificate(words), !isEnded {
            isEnded = true
            report(self, .certificateRefused(words: words))
        }
        http2.connectionLost()
        handleEvents(now)
        guard !isEnded else { return }
        isEnded = true
        report(self, .closed(words: words))
    }

    // MARK: Requests

    /// Sends a request; its outcome is reported under its number.
    func send(_ call: HTTPCall, number: UInt64, now: Now) {
        guard let http2, !isEnded else { return report(self, .failed(number, .unprocessed)) }
        needsPump = true
        do throws(HTTP2SendFailure) {
            let stream = try http2.send(call, now: now.monotonic)
            sent[stream] = Sent(number: number, at: now.monotonic)
        } catch {
            // A malformed call is a fault of the mapper, and never succeeds.
            report(self, .failed(number, error == .malformed ? .malformedAnswer : .unprocessed))
        }
    }

    /// Closes the connection when the requests in flight are answered; an attempt to connect ends at once.
    func close() {
        guard let http2 else {
            isEnded = true
            connection?.abort(.operatorRequest)
            return
        }
        http2.shutDown()
        needsPump = true
    }

    // MARK: Bytes

    func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        http2?.receive(bytes, now: now.monotonic)
        handleEvents(now)
        needsPump = true
    }

    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {
        isCongested = outboundIsCongested
        if !isCongested { needsPump = true }
    }

    func connectionDeadline(_ connection: Connection, now: Now) {
        http2?.wake(now: now.monotonic)
        handleEvents(now)
        needsPump = true
    }

    /// Continues in the next turn if there is more to write. Returns whether there is.
    func continueIfNeeded() -> Bool {
        guard hasMore else { return false }
        hasMore = false
        needsPump = true
        return true
    }

    /// Writes what HTTP/2 has to send, and reports how many requests there is room for. Called once in each turn.
    func pump(_ now: Now) {
        needsPump = false
        guard let http2, let connection, !isEnded else { return }
        if connection.isOpen, !isCongested {
            let before = connection.outbox.bytes.count
            http2.write(upTo: Limits.APNs.writeBytes, to: &connection.outbox.bytes)
            if connection.outbox.bytes.count > before { connection.setNeedsFlush() }
            hasMore = http2.canWrite && http2.failure == nil
        }
        handleEvents(now)
        guard !isEnded else { return }
        connection.deadline = http2.deadline
        let available = http2.availableStreams
        guard streamReport.isDue(available: available, inFlight: sent.count) else { return }
        report(self, .streams(available))
    }

    private func handleEvents(_ now: Now) {
        var failed: [(stream: UInt32, failure: HTTP2RequestFailure)] = []
        while let event = http2?.next() {
            switch event {
            case .answered(let stream, let answer):
                guard let entry = sent.removeValue(forKey: stream) else { continue }
                let span = (now.monotonic.nanoseconds - entry.at.nanoseconds) / 1_000
                report(self, .answered(entry.number, answer, microseconds: Int(max(0, span))))
            case .failed(let stream, let failure): failed.append((stream, failure))
            case .leaving(_, let reason): report(self, .leaving(reason))
            case .ended(let failure):
                reportFailed(&failed)
                ended(failure)
            }
        }
        reportFailed(&failed)
    }

    /// Reports failed requests in the order in which they were sent: those that GOAWAY leaves unprocessed come in no order.
    private func reportFailed(_ failed: inout [(stream: UInt32, failure: HTTP2RequestFailure)]) {
        failed.sort { $0.stream < $1.stream }
        for (stream, failure) in failed {
            guard let entry = sent.removeValue(forKey: stream) else { continue }
            report(self, .failed(entry.number, failure))
        }
        failed = []
    }

    private func ended(_ failure: HTTP2ClientFailure) {
        guard !isEnded else { return }
        isEnded = true
        if let connection, connection.isOpen {
            // The last frames say why.
            http2?.write(upTo: Limits.APNs.writeBytes, to: &connection.outbox.bytes)
            connection.close(failure == .finished ? .responseComplete : .protocolViolation)
        }
        report(self, .closed(words: failure.words, isFault: failure.isFault))
    }
}

extension HTTP2ClientFailure {
    /// Whether the other end does not behave as Apple: it may be a proxy or another server.
    var isFault: Bool {
        switch self {
        case .protocolError, .flood, .silent: true
        case .lost, .finished: false
        }
    }

    /// The failure in words, for the log.
    var words: String {
        switch self {
        case .protocolError: "the server broke the protocol"
        case .flood: "the server sent too many frames"
        case .silent: "the server did not answer a PING"
        case .lost: "connection lost"
        case .finished: "all requests are answered"
        }
    }
}

extension PaceSettings {
    /// Settings of connections to Apple.
    static var apns: PaceSettings {
        var pace = PaceSettings.outgoing
        pace.silenceSeconds = Limits.APNs.silenceSeconds
        return pace
    }
}
