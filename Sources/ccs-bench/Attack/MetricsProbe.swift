import Basics
import Catalogue
import Client
import Glibc
import Transport
import Wire

/// Reads the counters of a ccsd over one connection to its administrative port, which it keeps: a server that has no descriptor
/// left still answers on it.
final class MetricsProbe {
    private let bench: Bench
    private let client: HTTPClient
    /// Seconds that the server may take to answer while it is under attack.
    private static let patienceSeconds = 30

    init(_ bench: Bench, port: UInt16) {
        self.bench = bench
        client = HTTPClient(
            reactor: bench.reactor, endpoint: Endpoint(address: .loopback(port: port), tls: nil))
    }

    deinit { client.close() }

    /// Reads all counters; the good peers go on meanwhile.
    func read() throws(BenchError) -> DaemonCounts {
        var answer: Result<HTTPAnswer, ClientError>?
        client.send(HTTPCall("GET", "/metrics")) { answer = $0 }
        _ = bench.turn(seconds: Self.patienceSeconds) { answer != nil }
        switch answer {
        case .success(let answer) where answer.status == 200:
            return DaemonCounts(String(decoding: answer.body, as: UTF8.self))
        case .success(let answer): throw BenchError("ccsd, /metrics: HTTP \(answer.status)")
        case .failure(let error): throw BenchError("ccsd, /metrics: \(error)")
        case nil: throw BenchError("ccsd, /metrics: no answer in \(Self.patienceSeconds) seconds")
        }
    }
}

/// A port of loopback that was free a moment ago, for a server that cannot choose one itself.
enum FreePort {
    static func find() throws(BenchError) -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { _ = close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let found = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard found else { throw BenchError("cannot find a free port", code: .unavailable) }
        return UInt16(bigEndian: address.sin_port)
    }
}
