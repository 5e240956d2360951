import Basics
import Transport

/// Stands in for Apple on loopback: HTTP/2 over TLS, with a certificate authority made for the run.
///
/// It shares the thread of the generator, and so its CPU time counts there, apart from that of the daemon.
final class AppleResponder {
    /// Bytes of an `apns-id` (apns 1.2).
    static let idBytes = 36

    /// The files of the authority. The key of the server's certificate is on P-256 and so can also sign provider tokens.
    let authority: CertificateAuthority
    /// Its port on `localhost`.
    let port: UInt16
    /// The counters of the load that it receives.
    var counters = LoadCounters()
    /// Connections that are open, and the maximum so far.
    private(set) var connections = 0
    private(set) var mostConnections = 0
    /// The maximum of the requests in flight on one connection.
    private(set) var mostInFlight = 0

    private let reactor: Reactor
    private let latencyMilliseconds: Int64
    private var all: [AppleConnection] = []
    private var isScheduled = false

    /// Listens; answers `latencyMilliseconds` after the end of a request, or at once if it is 0.
    init(_ bench: Bench, latencyMilliseconds: Int) throws(BenchError) {
        reactor = bench.reactor
        self.latencyMilliseconds = Int64(latencyMilliseconds)
        let place = bench.scratch + "/apple"
        do throws(TransportError) {
            try SmallFile.makePrivateDirectory(place)
            authority = CertificateAuthority(directory: place)
            let now = Now.read().wall
            try authority.ensure(names: ["localhost"], now: now)
            let loaded = try LoadedCertificate(
                certificateFile: authority.certificateFile, keyFile: authority.keyFile, now: now)
            var settings = TLSServerSettings()
            settings.applicationProtocols = ["h2"]
            let socket = try ListeningSocket(tcp: .loopback(port: 0))
            port = socket.address.port
            try reactor.listen(
                on: socket, name: "apple", tls: TLSContextHolder(try loaded.context(settings))
            ) { [weak self] _ in self?.accept() }
        } catch { throw BenchError(error.description) }
    }

    /// Flags with which a daemon uses it in place of both environments of Apple.
    var flags: [String] {
        [
            "--apns-production-address", "localhost:\(port)", "--apns-sandbox-address", "localhost:\(port)",
            "--apns-ca-file", authority.authorityFile,
        ]
    }

    /// Resets the maximums.
    func beginMeasuring() {
        mostConnections = connections
        mostInFlight = 0
    }

    // MARK: Connections

    private func accept() -> AppleConnection {
        let connection = AppleConnection(self)
        all.append(connection)
        return connection
    }

    /// Counts a connection.
    func opened() {
        connections += 1
        mostConnections = max(mostConnections, connections)
    }

    /// Counts the end of a connection. One that ends with unanswered requests is a failure.
    func closed(_ connection: AppleConnection, _ reason: CloseReason, lost: Int) {
        connections -= 1
        all.removeAll { $0 === connection }
        if lost > 0 { counters.recordEnd("connection to Apple", reason, "\(lost) requests in flight") }
    }

    /// Counts a request.
    func received(inFlight: Int) { mostInFlight = max(mostInFlight, inFlight) }

    /// Counts a message that was due at a time.
    func arrived(dueAt time: Int64, _ instant: Int64) {
        counters.deliveryTimes.record(instant - time)
        counters.delivered += 1
        counters.lastDelivery = instant
    }

    // MARK: Answers

    /// Returns when a request is to be answered that has arrived now. Returns `nil` for at once.
    func due(_ now: Now) -> Instant? {
        guard latencyMilliseconds > 0 else { return nil }
        let due = now.monotonic.advanced(milliseconds: latencyMilliseconds)
        schedule(due)
        return due
    }

    private func schedule(_ due: Instant) {
        guard !isScheduled else { return }
        isScheduled = true
        reactor.schedule(at: due) { [weak self] now in self?.answerDue(now) }
    }

    private func answerDue(_ now: Now) {
        isScheduled = false
        for connection in all { connection.answerDue(now) }
        if let next = all.compactMap(\.upcoming).min() { schedule(next) }
    }
}
