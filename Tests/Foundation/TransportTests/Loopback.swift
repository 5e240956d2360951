import Basics
import COpenSSL
import Glibc
import Testing

@testable import Transport

/// A directory of one test, removed at its end.
final class Scratch {
    let path: String

    init() throws {
        var template = Array("/tmp/ccs-transport-XXXXXX".utf8CString)
        path = try #require(mkdtemp(&template).map { String(cString: $0) })
    }

    deinit {
        for name in ["ca.pem", "ca.key", "server.pem", "server.key", "socket", "other.pem", "other.key"] {
            unlink("\(path)/\(name)")
        }
        rmdir(path)
    }

    /// Makes a new authority with a certificate for loopback.
    func authority(names: [String] = ["localhost", "127.0.0.1"], now: UnixMilliseconds = Now.read().wall)
        throws
        -> CertificateAuthority
    {
        let authority = CertificateAuthority(directory: path)
        try authority.ensure(names: names, now: now)
        return authority
    }
}

/// An owner of connections that records their events.
final class Recorder: ConnectionDelegate {
    var connections: [Connection] = []
    var opened = 0
    var chunks: [[UInt8]] = []
    var congestion: [Bool] = []
    var deadlines = 0
    var closed: [CloseReason] = []
    var failures: [String] = []
    var keepsOpenAtEnd = false
    var inputEnds = 0
    var onProxyHeader: (Connection) -> Void = { _ in }
    var onOpen: (Connection) -> Void = { _ in }
    var onBytes: (Connection, [UInt8]) -> Void = { _, _ in }
    var onInputEnd: (Connection) -> Void = { _ in }
    var onClose: (Connection) -> Void = { _ in }

    var received: [UInt8] { chunks.flatMap { $0 } }

    func connectionReceivedProxyHeader(_ connection: Connection, now: Now) { onProxyHeader(connection) }

    func connectionOpened(_ connection: Connection, now: Now) {
        opened += 1
        connections.append(connection)
        onOpen(connection)
    }

    func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        let chunk = [UInt8](copying: bytes)
        chunks.append(chunk)
        onBytes(connection, chunk)
    }

    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {
        congestion.append(outboundIsCongested)
    }

    func connectionDeadline(_ connection: Connection, now: Now) { deadlines += 1 }

    func connectionInputEnded(_ connection: Connection, now: Now) -> Bool {
        inputEnds += 1
        onInputEnd(connection)
        return keepsOpenAtEnd
    }

    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        closed.append(reason)
        failures.append(connection.failure)
        onClose(connection)
    }
}

extension Connection {
    /// Sends one record.
    func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends one record.
    func send(_ bytes: [UInt8]) {
        outbox.bytes.append(bytes)
        outbox.endRecord()
        setNeedsFlush()
    }
}

extension Reactor {
    /// Runs turns until a condition holds. Returns false after two minutes, far longer than needed on a busy machine.
    func turns(until condition: () -> Bool) -> Bool {
        let end = Now.read().monotonic.advanced(seconds: 120)
        while !condition() {
            guard Now.read().monotonic < end else { return false }
            turn(waitMilliseconds: 20)
        }
        return true
    }
}

extension Connection {
    /// The cipher suite, such as `TLS_AES_256_GCM_SHA384`. Returns `nil` without TLS.
    var tlsCipher: String? {
        guard let ssl = tls.ssl, let cipher = SSL_get_current_cipher(ssl) else { return nil }
        return SSL_CIPHER_get_name(cipher).map { String(cString: $0) }
    }
}

/// A reactor with one listener, and connections to it from the same reactor.
final class Loopback {
    let reactor: Reactor
    let scratch: Scratch
    let authority: CertificateAuthority
    private(set) var certificate: LoadedCertificate
    private let settings: TLSServerSettings
    var holder: TLSContextHolder?
    var client: TLSClientSettings?
    let address: SocketAddress
    /// The owner of all accepted connections.
    let server = Recorder()
    var refuses = false

    init(
        tls: Bool = true, pace: PaceSettings = PaceSettings(),
        settings: TLSServerSettings = TLSServerSettings()
    ) throws {
        scratch = try Scratch()
        authority = try scratch.authority()
        reactor = try Reactor(index: 0)
        certificate = try LoadedCertificate(
            certificateFile: authority.certificateFile, keyFile: authority.keyFile, now: Now.read().wall)
        self.settings = settings
        let socket = try ListeningSocket(tcp: .loopback(port: 0))
        address = socket.address
        if tls {
            holder = TLSContextHolder(try certificate.context(settings))
            client = try TLSClientSettings(trust: .file(authority.authorityFile))
        }
        let server = server
        try reactor.listen(on: socket, name: "test", tls: holder, pace: pace) { [weak self] _ in
            self?.refuses == true ? nil : server
        }
    }

    deinit { reactor.end() }

    /// Loads the certificate files again.
    func reload() throws(TransportError) {
        let fresh = try LoadedCertificate(
            certificateFile: authority.certificateFile, keyFile: authority.keyFile, now: Now.read().wall)
        holder?.replace(with: try fresh.context(settings))
        certificate = fresh
    }

    /// Opens an outbound connection, and waits until it is open.
    func connect(_ owner: Recorder, serverName: String? = nil) throws -> Connection {
        let before = (owner.opened, server.opened)
        let connection = try reactor.connect(
            to: address, tls: client, serverName: serverName, delegate: owner)
        #expect(reactor.turns { owner.opened > before.0 && server.opened > before.1 })
        return connection
    }
}
