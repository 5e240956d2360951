import Basics
import Client
import ClientProtocol
import Foundation
import Transport

/// An app server on the test's thread, which runs only during calls that wait.
final class TestAppServer {
    private let reactor: Reactor
    private let client: AppServerClient
    private var answers: [String: String] = [:]
    /// The descriptions of refusals, by message ID.
    private(set) var descriptions: [String: String] = [:]
    /// IDs of received upstream messages, with repetitions.
    private(set) var upstream: [String] = []

    /// Connects and logs in as a sender.
    init(_ daemon: RunningDaemon, sender: (id: String, key: String)) throws {
        reactor = try Reactor(index: 0)
        let endpoint = try Endpoint(
            host: "127.0.0.1", port: UInt16(daemon.port("app_server")),
            tls: TLSClientSettings(trust: .file(daemon.authority)))
        client = AppServerClient(
            reactor: reactor, endpoint: endpoint,
            login: AppServerLogin(
                sender: SenderID(UInt64(sender.id) ?? 0), key: Redacted(Array(sender.key.utf8))))
        client.onEvent = { [unowned self] client, event, _ in
            switch event {
            case .acknowledged(let id, _): answers[String(decoding: id, as: UTF8.self)] = "ACK"
            case .refused(let id, let error, let text):
                answers[String(decoding: id, as: UTF8.self)] = error
                descriptions[String(decoding: id, as: UTF8.self)] = text
            case .upstream(let message):
                upstream.append(String(decoding: message.messageID, as: UTF8.self))
                client.acknowledge(message)
            default: break
            }
        }
        try client.connect()
        guard reactor.turn(seconds: 20, until: { client.isReady }) else {
            throw HarnessFailure("the app server could not log in")
        }
    }

    /// Sends a message that has its ID as data. Returns the answer: `ACK` or the error.
    func send(_ id: String, to token: String, again: Bool = false) throws -> String {
        if again { answers[id] = nil }
        try post(id, to: token)
        return try answer(to: id)
    }

    /// Sends a message that has its ID as data, and does not wait for the answer.
    func post(_ id: String, to token: String) throws {
        var message = Downstream(to: Array(token.utf8), messageID: Array(id.utf8))
        message.data = [(Array("id".utf8), Array(id.utf8))]
        guard client.send(message) else { throw HarnessFailure("\(id) was not sent") }
    }

    /// Waits for the answer to a message.
    func answer(to id: String) throws -> String {
        guard reactor.turn(seconds: 20, until: { answers[id] != nil }) else {
            throw HarnessFailure("no answer to \(id)")
        }
        return answers[id] ?? ""
    }

    /// Sends a message like `send`. Returns `nil` if the connection ends before the answer.
    func sendIfConnected(_ id: String, to token: String) throws -> String? {
        guard client.isConnected else { return nil }
        try post(id, to: token)
        guard reactor.turn(seconds: 20, until: { answers[id] != nil || !client.isConnected }) else {
            throw HarnessFailure("no answer to \(id)")
        }
        return answers[id]
    }

    /// Sends messages of about 3,900 bytes that no compression shortens, some at a time. Throws unless all are acknowledged.
    func fill(_ ids: [String], to token: String) throws {
        var waiting: [String] = []
        for id in ids {
            var message = Downstream(to: Array(token.utf8), messageID: Array(id.utf8))
            let noise = (0..<2_900).map { _ in UInt8.random(in: 0...255) }
            message.data = [
                (Array("id".utf8), Array(id.utf8)),
                (Array("noise".utf8), Array(Data(noise).base64EncodedString().utf8)),
            ]
            guard client.send(message) else { throw HarnessFailure("\(id) was not sent") }
            waiting.append(id)
            guard waiting.count == 50 || id == ids.last else { continue }
            guard reactor.turn(seconds: 60, until: { waiting.allSatisfy { answers[$0] != nil } }),
                waiting.allSatisfy({ answers[$0] == "ACK" })
            else { throw HarnessFailure("not all acknowledged: \(waiting.map { answers[$0] ?? "none" })") }
            waiting = []
        }
    }

    /// Waits for an upstream message, which the app server acknowledges.
    func expectUpstream(_ id: String) throws {
        guard reactor.turn(seconds: 20, until: { upstream.contains(id) }) else {
            throw HarnessFailure("upstream message \(id) did not come; the app server has \(upstream)")
        }
    }

    /// Waits until the server closes the connection. Returns whether it did.
    func endsByItself() -> Bool { reactor.turn(seconds: 20) { !client.isConnected } }

    /// Ends the stream, and waits until the connection is closed.
    func end() {
        client.end()
        _ = reactor.turn(seconds: 20) { !client.isConnected }
    }
}
