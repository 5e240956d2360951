import Basics
import Catalogue
import Client
import ClientProtocol
import Transport
import Wire

/// Reads the counters of a ccsd over one kept connection to its administrative port, which works even if the server has no
/// descriptors left.
final class MetricsProbe {
    private let bench: Bench
    private let client: HTTPClient
    /// Seconds in which the server must respond while it is under attack.
    private static let patienceSeconds = 30

    init(_ bench: Bench, port: UInt16) {
        self.bench = bench
        client = HTTPClient(
            reactor: bench.reactor, endpoint: Endpoint(address: .loopback(port: port), tls: nil))
    }

    deinit { client.close() }

    /// Reads all counters; the good peers continue meanwhile.
    func read() throws(BenchError) -> DaemonCounts {
        var answer: Result<HTTPAnswer, ClientError>?
        client.send(HTTPCall("GET", "/metrics")) { answer = $0 }
        _ = bench.turn(seconds: Self.patienceSeconds) { answer != nil }
        switch answer {
        case .success(let answer) where answer.status == 200:
            return DaemonCounts(String(decoding: answer.body, as: UTF8.self))
        case .success(let answer): throw BenchError("ccsd, /metrics: HTTP \(answer.status)")
        case .failure(let error): throw BenchError("ccsd, /metrics: \(error)")
        case nil: throw BenchError("ccsd, /metrics: no response in \(Self.patienceSeconds) seconds")
        }
    }
}
