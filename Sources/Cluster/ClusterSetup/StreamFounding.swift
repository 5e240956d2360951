public import Basics
import ClusterLog
public import NATSClient
public import Transport
import Wire

/// Creates the streams of a new cluster, and waits for that.
public final class StreamFounding: ReactorDelegate {
    private let reactor: Reactor
    private let partitions: Int
    private let stream: StreamSettings
    private let names: LogNames
    private let progress: (Int) -> Void
    private var client: JetStreamClient?
    private var created = 0
    private var failure: String?
    private var lastAttempt = ""

    private init(
        _ reactor: Reactor, partitions: Int, stream: StreamSettings, names: LogNames,
        progress: @escaping (Int) -> Void
    ) {
        self.reactor = reactor
        self.partitions = partitions
        self.stream = stream
        self.names = names
        self.progress = progress
    }

    /// Creates the streams of all partitions; `progress` gets the number of those that exist. Existing ones must be empty and as they
    /// would be made. Returns the problem, or `nil` if all exist.
    public static func run(
        _ settings: NATSSettings, names: LogNames, partitions: Int, stream: StreamSettings,
        progress: @escaping (Int) -> Void
    ) -> String? {
        do throws(TransportError) {
            let founding = StreamFounding(
                try Reactor(index: 0), partitions: partitions, stream: stream, names: names,
                progress: progress)
            founding.run(settings)
            return founding.failure
        } catch { return error.description }
    }

    private func run(_ settings: NATSSettings) {
        reactor.delegate = self
        let client = JetStreamClient(settings: settings, names: names, reactor: reactor) {
            [unowned self] in handle($0)
        }
        self.client = client
        client.start()
        reactor.schedule(at: reactor.now.monotonic.advanced(seconds: Limits.ClusterHost.foundingSeconds)) {
            [unowned self] _ in
            let detail = lastAttempt.isEmpty ? "" : ": \(lastAttempt)"
            end(
                "only \(created) of \(partitions) streams exist after \(Limits.ClusterHost.foundingSeconds) s\(detail)"
            )
        }
        reactor.run()
        client.stop()
    }

    private func handle(_ event: JetStreamEvent) {
        switch event {
        case .connected: client?.createStream(created, stream)
        case .attemptFailed(let server, let failure), .disconnected(let server, let failure):
            lastAttempt = "\(server): \(failure)"
            if failure.isOfSetup { end(lastAttempt) }
        case .stream(let partition, let info, let problems) where partition == created:
            if let problem = problems.first {
                return end("stream \(names.stream(partition)): \(problem)")
            }
            guard info.last.number == 0 else {
                return end(
                    "stream \(names.stream(partition)) has records: expected none, so that the cluster begins empty"
                )
            }
            created += 1
            progress(created)
            if created == partitions { end(nil) } else { client?.createStream(created, stream) }
        case .streamFailed(let partition, let failure) where partition == created:
            lastAttempt = "stream \(names.stream(partition)): \(failure)"
            guard case .refused(let error) = failure else {
                client?.createStream(created, stream)
                return
            }
            guard error.isPassing else { return end(lastAttempt) }
            reactor.schedule(
                at: reactor.now.monotonic.advanced(milliseconds: Limits.ClusterHost.foundingRetryMilliseconds)
            ) { [unowned self] _ in client?.createStream(created, stream) }
        default: break
        }
    }

    private func end(_ failure: String?) {
        self.failure = failure
        reactor.stop()
    }

    public func reactorWoke(_ reactor: Reactor, now: Now) {}
    public func reactorTurnEnded(_ reactor: Reactor, now: Now) {}
}

extension JetStreamError {
    /// Whether it goes by itself: servers that have just started have no leader for their group yet, or take each other for offline and find
    /// no place for the copies of a stream.
    fileprivate var isPassing: Bool { code == 10_008 || code == 10_005 }
}

extension NATSFailure {
    /// Whether it stays until the login or the configuration of NATS is changed.
    fileprivate var isOfSetup: Bool {
        switch self {
        case .refused(.authorizationViolation), .refused(.authenticationExpired): true
        case .tlsRequired, .tlsUnavailable, .noNonce: true
        default: false
        }
    }
}
