import Basics
import Client
import ClientProtocol
import Operator
import Transport
import Wire

/// The credentials of an app server of HTTP v1.
struct Grant {
    /// The project in the path.
    var project: String
    /// The access token.
    var bearer: String
}

extension DaemonTarget {
    /// Creates a service account and obtains an access token for it, as an SDK does (http 9.1).
    func grant() throws(BenchError) -> Grant {
        guard let key = ServiceAccountKey(), let publicKey = Base64.bytes(Array(key.publicKey.utf8).raw)
        else {
            throw BenchError("cannot create a key")
        }
        let account = try control(AddAccount(sender: sender, publicKey: publicKey))
        guard
            let assertion = key.assertion(
                email: account.email, keyID: account.keyID, now: Now.read().wall)
        else { throw BenchError("the key cannot sign") }
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
            return Grant(project: account.project, bearer: token)
        } catch { throw BenchError("ccsd, token: \(error)") }
    }
}
