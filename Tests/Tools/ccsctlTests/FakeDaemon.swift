import Client
import Glibc

/// A control socket whose answers the test prepares before the tool sends its request.
///
/// The kernel completes a connection before it is accepted, so one thread is enough.
final class FakeDaemon {
    let path: String
    private let listener: Int32
    private var accepted: Int32 = -1

    init() throws {
        var template = Array("/tmp/ccsctl-test-XXXXXX".utf8CString)
        struct CannotListen: Error {}
        guard mkdtemp(&template) != nil else { throw CannotListen() }
        path =
            String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            + "/control.sock"
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard isBound == 0, listen(listener, 4) == 0 else { throw CannotListen() }
    }

    deinit {
        close(listener)
        if accepted >= 0 { close(accepted) }
        unlink(path)
        rmdir(String(path.dropLast("/control.sock".count)))
    }

    /// Accepts the client that has connected, and writes the answers in advance.
    func answer(_ text: String, closing: Bool = false) {
        if accepted < 0 { accepted = accept(listener, nil, nil) }
        let bytes = Array(text.utf8)
        _ = send(accepted, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        if closing { shutdown(accepted, Int32(SHUT_WR)) }
    }

    /// The requests of the client so far.
    func asked() -> String {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(accepted, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
