import Basics
import Catalogue
import Transport

/// The minimal relay.
final class RelayTarget: Target {
    let name: String
    private let child: Child
    let appServers: SocketAddress
    let devices: SocketAddress
    let credential = StreamCredential(sender: "1", key: "none")
    let sender = SenderID(1)
    var process: Int32 { child.process }

    /// Deviations from its default behaviour.
    enum Variant: String {
        /// OpenSSL reads record by record, which is its own default.
        case plainReads = "plain-reads"
        /// Clients may resume their TLS sessions.
        case tickets
    }

    /// Starts a relay.
    init(_ bench: Bench, _ variant: Variant? = nil, name: String = "relay") throws(BenchError) {
        self.name = name
        let authority = CertificateAuthority(directory: bench.scratch)
        do throws(TransportError) {
            try authority.ensure(names: ["localhost", "127.0.0.1"], now: Now.read().wall)
        } catch { throw BenchError(error.description) }
        child = try bench.start(
            "ccs-relay",
            [authority.certificateFile, authority.keyFile]
                + (variant.map { [$0.rawValue] } ?? []), log: "\(name).log")
        let ports = (child.line(seconds: 10) ?? "").split(separator: " ").compactMap { UInt16($0) }
        guard ports.count == 2 else {
            throw BenchError("ccs-relay did not start; see \(bench.scratch)/\(name).log", code: .unavailable)
        }
        appServers = .loopback(port: ports[0])
        devices = .loopback(port: ports[1])
    }

    func makeDevices(_ count: Int, progress: (Int) -> Void) -> [BenchDevice] {
        (0..<count).map { at in
            let number = 1_000_000_000_000_000_000 + UInt64(at)
            // As long as a real token, so that the stanzas have the same length.
            let text = "\(number):"
            let filler = String(repeating: "x", count: TokenSeal.length - text.utf8.count)
            return BenchDevice(number: number, secret: number, token: text + filler)
        }
    }
}
