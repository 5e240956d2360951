import COpenSSL
import Glibc
import Synchronization
import Transport

/// Requests renegotiation on TLS 1.2 connections, on its own thread, since the Transport module cannot request it.
@safe final class Renegotiator: Sendable {
    /// The results, counted by the thread.
    struct Counts {
        var connections = 0
        var refused = 0
        var granted = 0
    }

    private let counts = Mutex(Counts())
    private let isOver = Atomic(false)
    private let hasEnded = Atomic(false)
    private let port: UInt16
    /// Pause between two connections: a full handshake costs the server a millisecond.
    private static let pauseMicroseconds: UInt32 = 5_000
    /// Seconds that the server may be silent.
    private static let patienceSeconds = 5

    init(port: UInt16) { self.port = port }

    /// The results so far.
    var soFar: Counts { counts.withLock { $0 } }

    /// Starts the thread.
    func begin() throws(TransportError) {
        try Thread(name: "renegotiator") { [self] in
            while !isOver.load(ordering: .relaxed) {
                attempt()
                _ = usleep(Self.pauseMicroseconds)
            }
            hasEnded.store(true, ordering: .releasing)
        }.detach()
    }

    /// Stops it. Returns whether the thread has ended.
    func end() -> Bool {
        isOver.store(true, ordering: .relaxed)
        return hasEnded.load(ordering: .acquiring)
    }

    private func attempt() {
        guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { return }
        defer { unsafe SSL_CTX_free(context) }
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0, let ssl = unsafe SSL_new(context) else { return }
        defer {
            unsafe SSL_free(ssl)
            _ = close(descriptor)
        }
        var patience = timeval(tv_sec: Self.patienceSeconds, tv_usec: 0)
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let connected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0, unsafe SSL_set_fd(ssl, descriptor) == 1, unsafe SSL_connect(ssl) == 1 else {
            return
        }
        // A ClientHello within the connection; the server may respond with its own, with an alert, or not at all.
        let isGranted =
            unsafe SSL_renegotiate(ssl) == 1 && SSL_do_handshake(ssl) == 1
            && SSL_renegotiate_pending(ssl) == 0
        counts.withLock {
            $0.connections += 1
            if isGranted { $0.granted += 1 } else { $0.refused += 1 }
        }
    }
}
