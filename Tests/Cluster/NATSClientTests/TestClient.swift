import Basics
import ClusterLog
import NATSServerSupport
import Testing
import Transport
import Wire

@testable import NATSClient

/// A client of a real server on a reactor of its own, with all its events.
final class TestClient {
    let reactor: Reactor
    private(set) var client: JetStreamClient?
    private(set) var events: [JetStreamEvent] = []
    /// Called with each event, after it is recorded.
    var onEvent: (JetStreamEvent) -> Void = { _ in }

    /// Starts a client.
    init(_ settings: NATSSettings) throws {
        reactor = try Reactor(index: 0)
        client = JetStreamClient(settings: settings, reactor: reactor) { [weak self] event in
            self?.events.append(event)
            self?.onEvent(event)
        }
        client?.start()
    }

    convenience init(_ servers: NATSServerProcess..., login: NATSLogin = .none) throws {
        try self.init(
            NATSSettings(
                servers: servers.map { NATSServerAddress(host: "127.0.0.1", port: $0.port) }, name: "tests",
                login: login))
    }

    deinit { reactor.end() }

    var jetStream: JetStreamClient {
        get throws { try #require(client) }
    }

    /// Runs turns until a condition holds. Fails after a time that is far longer than needed on a busy machine.
    func run(
        seconds: Int = 60, _ what: String = "", _ location: SourceLocation = #_sourceLocation,
        until isDone: () throws -> Bool
    ) throws {
        let end = Now.read().monotonic.advanced(seconds: seconds)
        while try !isDone() {
            guard Now.read().monotonic < end else {
                Issue.record(
                    "timed out: \(what); the last events are \(events.suffix(5))", sourceLocation: location)
                throw TimedOut()
            }
            reactor.turn(waitMilliseconds: 20)
        }
    }

    /// Runs turns for a time.
    func run(milliseconds: Int64) {
        let end = Now.read().monotonic.advanced(milliseconds: milliseconds)
        while Now.read().monotonic < end { reactor.turn(waitMilliseconds: 5) }
    }

    /// Runs until an event is of interest. Returns what `pick` makes of the first one, and removes everything up to it.
    @discardableResult
    func next<T>(
        _ what: String = "", _ location: SourceLocation = #_sourceLocation,
        _ pick: (JetStreamEvent) throws -> T?
    ) throws -> T {
        var found: T?
        try run(what, location) {
            while found == nil, !events.isEmpty { found = try pick(events.removeFirst()) }
            return found != nil
        }
        return try #require(found)
    }

    /// Returns the events since the last call, and forgets them.
    func takeEvents() -> [JetStreamEvent] {
        let taken = events
        events = []
        return taken
    }

    /// Waits for the connection. Returns the name of the server.
    @discardableResult
    func connected(_ location: SourceLocation = #_sourceLocation) throws -> String {
        try next("connected", location) { if case .connected(let info) = $0 { info.name } else { nil } }
    }

    /// Waits for the first failed attempt.
    func attemptFailed(_ location: SourceLocation = #_sourceLocation) throws -> NATSFailure {
        try next("attempt failed", location) {
            if case .attemptFailed(_, let failure) = $0 { failure } else { nil }
        }
    }

    /// Waits for the end of the connection.
    func disconnected(_ location: SourceLocation = #_sourceLocation) throws -> NATSFailure {
        try next("disconnected", location) {
            if case .disconnected(_, let failure) = $0 { failure } else { nil }
        }
    }

    /// Creates the stream of a partition. Returns its problems.
    @discardableResult
    func createStream(_ partition: Int, replicas: Int = 1) throws -> [StreamProblem] {
        try jetStream.createStream(partition, StreamSettings(replicas: replicas))
        return try next("stream") {
            switch $0 {
            case .stream(partition, _, let problems): problems
            case .streamFailed(partition, let failure): throw failure
            default: nil
            }
        }
    }

    struct TimedOut: Error {}
}

/// The name of a frame of tests.
func frame(_ number: UInt64) -> FrameName { FrameName(claim: Claim(7), number: number) }
