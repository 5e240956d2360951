import Basics
import Client
import Foundation
import Transport

/// An app server on the test's own thread: it only moves while something is expected of it.
final class TestAppServer {
    private let reactor: Reactor
    private let client: AppServerClient
    private var answers: [String: String] = [:]

    /// Logs in as the daemon's first sender.
    init(_ daemon: RunningDaemon, sender: (id: String, key: String)) throws {
        reactor = try Reactor(index: 0)
        let endpoint = try Endpoint(
            host: "127.0.0.1", port: UInt16(daemon.port("app_server")),
            tls: TLSClientSettings(trust: .file(daemon.authority)))
        client = AppServerClient(
            reactor: reactor, endpoint: endpoint,
            login: AppServerLogin(
                sender: SenderID(UInt64(sender.id) ?? 0), key: Redacted(Array(sender.key.utf8))))
        client.onEvent = { [unowned self] _, event, _ in
            switch event {
            case .acknowledged(let id, _): answers[String(decoding: id, as: UTF8.self)] = "ACK"
            case .refused(let id, let error, _): answers[String(decoding: id, as: UTF8.self)] = error
            default: break
            }
        }
        try client.connect()
        guard reactor.turn(seconds: 20, until: { client.isReady }) else {
            throw HarnessFailure("the app server cannot log in")
        }
    }

    /// Sends a message with a lifetime whose data says its id, and waits for the answer: `ACK`, or the error.
    func send(_ id: String, to token: String) throws -> String {
        var message = Downstream(to: Array(token.utf8), messageID: Array(id.utf8))
        message.data = [(Array("id".utf8), Array(id.utf8))]
        guard client.send(message), reactor.turn(seconds: 20, until: { answers[id] != nil }) else {
            throw HarnessFailure("\(id) was not answered")
        }
        return answers[id] ?? ""
    }
}
