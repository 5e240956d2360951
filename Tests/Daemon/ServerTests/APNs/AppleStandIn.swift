import Basics
import Testing
import Transport
import Wire

@testable import Server

/// Stands in for one host of Apple: answers each request with the status that the first digits of its device token name.
final class AppleStandIn: ConnectionDelegate {
    let reactor: Reactor
    let port: UInt16
    let authorityFile: String
    /// The requests in order.
    private(set) var requests: [HTTPRequest] = []
    private(set) var accepted = 0
    private(set) var closed = 0
    private let folder: ServerFolder
    private let clock = Now.read()
    private var sessions: [ConnectionID: (connection: Connection, http2: HTTP2Connection)] = [:]

    init(protocols: [String] = ["h2"], names: [String] = ["localhost"]) throws {
        folder = try ServerFolder()
        let authority = CertificateAuthority(directory: folder.path)
        try authority.ensure(names: names, now: clock.wall)
        authorityFile = authority.authorityFile
        reactor = try Reactor(index: 1)
        let loaded = try LoadedCertificate(
            certificateFile: authority.certificateFile, keyFile: authority.keyFile, now: clock.wall)
        var settings = TLSServerSettings()
        settings.applicationProtocols = protocols
        let socket = try ListeningSocket(tcp: .loopback(port: 0))
        port = socket.address.port
        try reactor.listen(
            on: socket, name: "apple", tls: TLSContextHolder(try loaded.context(settings))
        ) { [unowned self] _ in self }
    }

    deinit { reactor.end() }

    func connectionOpened(_ connection: Connection, now: Now) {
        accepted += 1
        sessions[connection.id] = (connection, HTTP2Connection())
        write(connection)
    }

    func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        guard let http2 = sessions[connection.id]?.http2 else { return }
        http2.receive(bytes, at: now.wall)
        while let (stream, request) = http2.next() {
            requests.append(request)
            http2.answer(stream, Self.answer(to: request), at: now.wall)
        }
        write(connection)
    }

    private static func answer(to request: HTTPRequest) -> HTTPResponse {
        var response = answerWithoutID(to: request)
        response.extra = request.header("apns-id").map { ("apns-id", String(decoding: $0, as: UTF8.self)) }
        return response
    }

    private static func answerWithoutID(to request: HTTPRequest) -> HTTPResponse {
        let token = String(decoding: request.path.dropFirst("/3/device/".utf8.count), as: UTF8.self)
        guard token.hasPrefix("0410") else { return HTTPResponse(.ok, "text/plain", []) }
        return HTTPResponse(
            .gone, HTTPResponse.json, Array("{\"reason\":\"Unregistered\",\"timestamp\":1000}".utf8))
    }

    /// Sends GOAWAY on every connection.
    func leave() {
        for session in sessions.values {
            session.http2.shutDown()
            write(session.connection)
        }
    }

    /// Drops every connection.
    func drop() { for session in sessions.values { session.connection.abort(.operatorRequest) } }

    private func write(_ connection: Connection) {
        sessions[connection.id]?.http2.write(upTo: 1 << 20, to: &connection.outbox.bytes)
        connection.setNeedsFlush()
    }

    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}
    func connectionDeadline(_ connection: Connection, now: Now) {}
    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        closed += 1
        sessions[connection.id] = nil
    }
}
