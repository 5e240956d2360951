import Basics
import Client
import ClientProtocol
import ClientSupport
import Testing

/// An app server's machine with its output and events.
final class AppServerBench {
    var machine: AppServerMachine
    var out = Outbox()
    var events: [AppServerEvent] = []

    init(acknowledges: Bool = true) {
        var login = AppServerLogin(sender: SenderID(1_234_567_890), key: Redacted(Array("KEY".utf8)))
        login.acknowledges = acknowledges
        login.resource = "test"
        machine = AppServerMachine(login: login)
    }

    /// Passes bytes from the server in pieces of `step`. Returns the output.
    @discardableResult
    func receive(_ text: String, step: Int = .max) -> String {
        let bytes = Array(text.utf8)
        var at = 0
        while at < bytes.count {
            let end = step >= bytes.count - at ? bytes.count : at + step
            let piece = Array(bytes[at..<end])
            machine.receive(piece.raw, out: &out, events: &events)
            at = end
        }
        return sent()
    }

    func sent() -> String {
        defer { out.removeAll() }
        return String(decoding: out.bytes.copied(), as: UTF8.self)
    }

    static let ownHeader =
        "<stream:stream to=\"gcm.googleapis.com\" version=\"1.0\" xmlns=\"jabber:client\" xmlns:stream=\"http://etherx.jabber.org/streams\">"

    /// Completes the login.
    func logIn(step: Int = .max) {
        machine.open(out: &out)
        receive(AppServerScript.header + AppServerScript.mechanisms, step: step)
        receive(AppServerScript.success, step: step)
        receive(AppServerScript.header + AppServerScript.features, step: step)
        receive(AppServerScript.bound, step: step)
    }
}
