import Basics
import Client
import ClientProtocol
import Transport
import Wire

/// What an app server of HTTP v1 sends with.
struct Grant {
    /// The project in the path.
    var project: String
    /// The access token.
    var bearer: String
}

extension DaemonTarget {
    /// Makes a service account and has an access token granted to it, as an SDK does (http 9.1).
    func grant() throws(BenchError) -> Grant {
        guard let key = ServiceAccountKey() else { throw BenchError("no key can be made") }
        let account = try control(
            "service-accounts add",
            .object([
                .init("sender_id", .string(String(sender.number))),
                .init("public_key", .string(key.publicKey)),
            ]))
        guard let email = account["email"]?.text, let keyID = account["key_id"]?.text,
            let project = account["project"]?.text,
            let assertion = key.assertion(email: email, keyID: keyID, now: Now.read().wall)
        else { throw BenchError("ccsd makes no service account") }
        var form = FormWriter()
        form.add("grant_type", Array("urn:ietf:params:oauth:grant-type:jwt-bearer".utf8))
        form.add("assertion", Array(assertion.revealed.utf8))
        var call = HTTPCall("POST", "/token")
        call.add("Content-Type", "application/x-www-form-urlencoded")
        call.body = form.bytes.copied()
        let client = HTTPClient(
            reactor: bench.reactor,
            endpoint: Endpoint(address: https, serverName: "localhost", tls: bench.tls))
        defer { client.close() }
        do throws(ClientError) {
            let answer = try client.answer(to: call)
            guard let json = try? JSONValue(parsing: answer.body.raw), let token = json["access_token"]?.text
            else { throw .status(answer.status, answer.text) }
            return Grant(project: project, bearer: token)
        } catch { throw BenchError("ccsd, token: \(error)") }
    }
}
