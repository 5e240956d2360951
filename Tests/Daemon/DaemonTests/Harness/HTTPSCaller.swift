import Basics
import Client
import ClientProtocol
import Foundation
import Transport
import Wire

/// An HTTPS client: an attacker with public identifiers, or an SDK with its credentials.
final class HTTPSCaller {
    private let reactor: Reactor
    private let daemon: RunningDaemon

    init(_ daemon: RunningDaemon) throws {
        self.daemon = daemon
        reactor = try Reactor(index: 0)
    }

    /// Sends a request, with a JSON body if given.
    func ask(
        _ method: String, _ path: String, _ headers: [String: String] = [:], body: Any? = nil
    ) throws -> (status: Int, json: [String: Any]) {
        var call = HTTPCall(method, path)
        for (name, value) in headers { call.headers.append((name, Redacted(value))) }
        if let body {
            call.add("Content-Type", "application/json")
            call.body = [UInt8](try JSONSerialization.data(withJSONObject: body))
        }
        let answer = try make(call)
        let json = try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        return (answer.status, json ?? [:])
    }

    /// Sends any request.
    func make(_ call: HTTPCall) throws -> HTTPAnswer {
        let tls = try TLSClientSettings(trust: .file(daemon.authority))
        let endpoint = try Endpoint(host: "127.0.0.1", port: UInt16(daemon.port("https")), tls: tls)
        let http = HTTPClient(reactor: reactor, endpoint: endpoint)
        defer { http.close() }
        var found: HTTPAnswer?
        http.send(call) { found = try? $0.get() }
        guard reactor.turn(seconds: Int(Patience.seconds), until: { found != nil }), let found else {
            throw HarnessFailure("no response to an HTTPS request")
        }
        return found
    }

    /// A Firebase installation with its credentials.
    struct Installation {
        var id: String
        /// The refresh token, which grants new access tokens.
        var refresh: String
        /// The access token for requests.
        var access: String

        /// The `Authorization` header with the refresh token.
        var proof: [String: String] { ["Authorization": "FIS_v2 \(refresh)"] }
        /// The header with the access token.
        var header: [String: String] { ["x-goog-firebase-installations-auth": access] }
    }

    /// Creates an installation as SDKs do; `id` is the requested installation ID.
    func install(
        _ sender: String, id: String? = nil, _ headers: [String: String] = [:]
    ) throws -> Installation {
        var body = ["appId": "1:\(sender):web:abc"]
        body["fid"] = id
        let made = try ask("POST", "/v1/projects/p/installations", headers, body: body)
        guard made.status == 200, let id = made.json["fid"] as? String,
            let refresh = made.json["refreshToken"] as? String,
            let access = (made.json["authToken"] as? [String: Any])?["token"] as? String
        else { throw HarnessFailure("no installation was created: \(made)") }
        return Installation(id: id, refresh: refresh, access: access)
    }
}
