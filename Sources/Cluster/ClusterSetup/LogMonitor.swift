import Basics
import Client
import ClientProtocol
public import NATSClient
public import Transport
import Wire

/// Asks the monitoring port of a nats-server (`http:` in its configuration) for its report, over plain HTTP.
///
/// Used on the reactor's thread only.
public final class LogMonitor {
    /// The callback for a report.
    public typealias Completion = (Result<LogServerReport, LogMonitorProblem>) -> Void

    /// The address of the monitoring port.
    public let address: NATSServerAddress
    private let reactor: Reactor
    private var client: HTTPClient?
    private var isAsking = false

    /// Creates a monitor that has asked nothing yet.
    public init(_ address: NATSServerAddress, reactor: Reactor) {
        self.address = address
        self.reactor = reactor
    }

    /// Asks, unless an answer is due already. The name is looked up each time: a server may have moved.
    public func ask(_ completion: @escaping Completion) {
        guard !isAsking else { return }
        isAsking = true
        reactor.lookUp(address.host, port: address.port) { [weak self] found in
            guard let self else { return }
            switch found {
            case .success(let addresses):
                guard let first = addresses.first else {
                    return self.end(.failure(.unreachable("no address")), completion)
                }
                self.ask(first, completion)
            case .failure(let error): self.end(.failure(.unreachable(error.detail)), completion)
            }
        }
    }

    private func ask(_ socket: SocketAddress, _ completion: @escaping Completion) {
        let isLiteral = SocketAddress(literal: address.host, port: address.port) != nil
        let client = HTTPClient(
            reactor: reactor,
            endpoint: Endpoint(address: socket, serverName: isLiteral ? nil : address.host, tls: nil))
        self.client = client
        client.send(HTTPCall("GET", "/varz")) { [weak self] answer in
            self?.end(Self.report(answer), completion)
        }
    }

    private static func report(
        _ answer: Result<HTTPAnswer, ClientError>
    ) -> Result<LogServerReport, LogMonitorProblem> {
        switch answer {
        case .failure(let error): return .failure(.unreachable("\(error)"))
        case .success(let answer):
            guard answer.status == 200 else {
                return .failure(.unreadable("/varz was answered with HTTP status \(answer.status)"))
            }
            do throws(LogMonitorProblem) {
                return .success(try LogServerReport(parsing: answer.body))
            } catch { return .failure(error) }
        }
    }

    private func end(_ result: Result<LogServerReport, LogMonitorProblem>, _ completion: Completion) {
        isAsking = false
        let client = client
        self.client = nil
        client?.close()
        completion(result)
    }
}

extension LogMonitor {
    /// Asks several servers one after the other, and waits. Returns what is wrong with the first that does not sync each record or does
    /// not report, or `nil` if all do.
    public static func problem(of addresses: [NATSServerAddress]) -> String? {
        do throws(TransportError) {
            let reactor = try Reactor(index: 0)
            for address in addresses {
                let monitor = LogMonitor(address, reactor: reactor)
                switch withExtendedLifetime(monitor, { monitor.answer() }) {
                case .success(let report) where report.syncsAlways: continue
                case .success(let report): return "\(address): \(report.unsynced)"
                case .failure(let problem): return "\(address): \(problem)"
                }
            }
            return nil
        } catch { return error.description }
    }

    /// Asks until the server can be reached and has JetStream, since it may have just been started, and runs the reactor meanwhile.
    private func answer() -> Result<LogServerReport, LogMonitorProblem> {
        let end = Now.read().monotonic.advanced(seconds: Limits.ClusterHost.monitorPatienceSeconds)
        while true {
            var result: Result<LogServerReport, LogMonitorProblem>?
            ask { result = $0 }
            _ = reactor.turn(seconds: 2 * Limits.Client.answerSeconds) { result != nil }
            let found = result ?? .failure(.unreachable("no answer"))
            guard found.mayPass, Now.read().monotonic < end else { return found }
            var isOver = false
            reactor.schedule(
                at: Now.read().monotonic.advanced(
                    milliseconds: Limits.ClusterHost.foundingRetryMilliseconds)
            ) { _ in isOver = true }
            _ = reactor.turn(seconds: 1) { isOver }
        }
    }
}

extension Result<LogServerReport, LogMonitorProblem> {
    /// Whether a server that has just started answers so for a moment.
    fileprivate var mayPass: Bool {
        switch self {
        case .failure(.unreachable), .failure(.withoutJetStream): true
        case .failure(.unreadable), .success: false
        }
    }
}

extension LogServerReport {
    /// What is wrong with a server that does not sync.
    public var unsynced: String {
        "server \(name) confirms records before they are on its disk: expected sync_interval: always"
    }
}
