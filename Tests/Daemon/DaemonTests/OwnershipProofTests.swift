import Client
import ClientProtocol
import Foundation
import Testing
import Wire

/// Attackers with public identifiers: a token, an endpoint, the ID of an installation. Each test compares the attacker's request
/// with the same request by the owner.
@Suite("Proof of ownership", .serialized)
struct OwnershipProofTests {
    /// A daemon, a device with an app of the first sender, and an attacker.
    private final class Bench {
        let daemon: RunningDaemon
        let sender: String
        let other: String
        let device: TestDevice
        let attacker: HTTPSCaller

        init() throws {
            daemon = try RunningDaemon()
            sender = try daemon.firstSender.id
            guard let other = try daemon.ctl("senders", "add")["sender_id"] as? String else {
                throw HarnessFailure("senders add printed no sender_id")
            }
            self.other = other
            device = try TestDevice(daemon, sender: sender)
            attacker = try HTTPSCaller(daemon)
        }

        /// Sends a message and expects that the device gets it.
        func reach(_ target: String, _ n: String) throws {
            _ = try daemon.ctl("send", sender, target, "n=\(n)")
            try device.expectMessage { $0["n"] == n }
        }

        func path(_ token: String, of project: String? = nil) -> String {
            "/v1/projects/\(project ?? sender)/registrations/\(token)"
        }
    }

    /// Returns the subscription of a web app in the form of a registration request.
    private static func subscription(_ app: WebApp, _ endpoint: String) -> [String: Any] {
        let words = [app.publicKey, app.auth].map { Data($0).base64EncodedString() }
        return [
            "web": [
                "endpoint": "https://fcm.googleapis.com/fcm/send/\(endpoint)", "p256dh": words[0],
                "auth": words[1],
            ]
        ]
    }

    /// Returns the keys of a web app on the device and the token of its endpoint.
    private func web(_ bench: Bench) throws -> (app: WebApp, endpoint: String) {
        let app = try #require(WebApp(subtype: "wp:https://example.com/#1"))
        let endpoint = try bench.device.register(
            bench.daemon,
            DeviceCalls.App(
                category: "org.chromium.linux", sender: WebApp.usualKey, subtype: app.subtype))
        return (app, endpoint)
    }

    @Test("a token can be deleted by its device under its own project, and not by others that have the token")
    func ending() throws {
        let bench = try Bench()
        let token = bench.device.token
        let intruder = try TestDevice(bench.daemon, sender: bench.sender, app: "com.example.intruder")
        let installed = try bench.attacker.install(bench.sender)
        for headers in [
            [:], ["x-goog-api-key": "k"], ["Authorization": intruder.proof], installed.header,
            installed.proof,
        ] as [[String: String]] {
            let answer = try bench.attacker.ask("DELETE", bench.path(token), headers)
            #expect([401, 403].contains(answer.status), "\(headers.keys): \(answer)")
        }
        let foreign = try bench.attacker.ask(
            "DELETE", bench.path(token, of: bench.other), ["Authorization": bench.device.proof])
        #expect(foreign.status == 403, "\(foreign)")
        try bench.reach(token, "still there")
        let own = try bench.attacker.ask(
            "DELETE", bench.path(token), ["Authorization": bench.device.proof])
        #expect(own.status == 200, "\(own)")
        #expect(throws: (any Error).self) { try bench.reach(token, "gone") }
    }

    @Test("a web app's token can be renewed and deleted by its installation alone")
    func renewing() throws {
        let bench = try Bench()
        let (app, endpoint) = try web(bench)
        let sdk = try HTTPSCaller(bench.daemon)
        let installed = try sdk.install(bench.sender)
        let made = try sdk.ask(
            "POST", "/v1/projects/p/registrations", installed.header,
            body: Self.subscription(app, endpoint))
        let token = try #require(made.json["token"] as? String, "\(made)")
        let foreign = try bench.attacker.install(bench.sender)
        let strange = try #require(WebApp(subtype: "x"))
        for headers in [[:], foreign.header] {
            let renewed = try bench.attacker.ask(
                "PATCH", bench.path(token), headers, body: Self.subscription(strange, endpoint))
            #expect(renewed.status == 403, "\(renewed)")
            let ended = try bench.attacker.ask("DELETE", bench.path(token), headers)
            #expect([401, 403].contains(ended.status), "\(ended)")
            // The attacker gets a separate token that does not reach the web app.
            let beside = try bench.attacker.ask(
                "POST", "/v1/projects/\(bench.sender)/registrations", headers,
                body: Self.subscription(strange, endpoint))
            #expect(beside.json["token"] as? String != token, "\(beside)")
        }
        _ = try bench.daemon.ctl("send", bench.sender, token, "n=mine")
        let message = try bench.device.expectEncrypted()
        let opened = String(decoding: try #require(app.open(message)), as: UTF8.self)
        #expect(opened.contains("mine"))
        let renewed = try sdk.ask(
            "PATCH", bench.path(token), installed.header, body: Self.subscription(app, endpoint))
        #expect(renewed.json["token"] as? String == token, "\(renewed)")
        #expect(try sdk.ask("DELETE", bench.path(token), installed.header).status == 200)
    }

    @Test("a registration for another project is refused when its endpoint is an app's token")
    func endpoints() throws {
        let bench = try Bench()
        let app = try #require(WebApp(subtype: "x"))
        let path = "/v1/projects/\(bench.other)/registrations"
        let refused = try bench.attacker.ask(
            "POST", path, body: Self.subscription(app, bench.device.token))
        #expect(refused.status == 400, "\(refused)")
        let form = DeviceCalls.subscribe(
            publicKey: app.publicKey, auth: app.auth, endpoint: bench.device.token, sender: bench.other)
        #expect(try bench.attacker.make(form).status == 400)
        let (owner, endpoint) = try web(bench)
        let made = try bench.attacker.ask("POST", path, body: Self.subscription(owner, endpoint))
        let token = try #require(made.json["token"] as? String, "canary: \(made)")
        _ = try bench.daemon.ctl("send", bench.other, token, "n=1")
        let message = try bench.device.expectEncrypted()
        #expect(String(decoding: message.from, as: UTF8.self) == WebApp.usualKey)
    }

    @Test(
        "an attacker gets a fresh ID for an installation that exists, and can neither receive for it nor delete it"
    )
    func installations() throws {
        let bench = try Bench()
        let sdk = try HTTPSCaller(bench.daemon)
        let id = "cGFzc3dvcmQ_aGVsbG8tdw"
        let own = try sdk.install(bench.sender, id: id)
        #expect(own.id == id)
        let token = try bench.device.register(
            bench.daemon,
            DeviceCalls.App(category: "com.example.installed", sender: bench.sender, instance: id),
            installation: own.access)
        let found = try bench.attacker.install(bench.sender, id: id)
        #expect(found.id != id && found.refresh != own.refresh)
        let intruder = try TestDevice(bench.daemon, sender: bench.sender, app: "com.example.intruder")
        for access in [nil, found.access] as [String?] {
            #expect(throws: (any Error).self) {
                try intruder.register(
                    bench.daemon,
                    DeviceCalls.App(category: "com.example.installed", sender: bench.sender, instance: id),
                    installation: access)
            }
        }
        let paired = try bench.attacker.install(bench.sender, id: id, ["Authorization": intruder.proof])
        #expect(paired.id != id)
        let path = "/v1/projects/p/installations/\(id)"
        for headers in [[:], found.proof, ["Authorization": intruder.proof]] as [[String: String]] {
            let ended = try bench.attacker.ask("DELETE", path, headers)
            #expect([401, 404].contains(ended.status), "\(ended)")
            let granted = try bench.attacker.ask("POST", path + "/authTokens:generate", headers)
            #expect([401, 404].contains(granted.status), "\(granted)")
        }
        try bench.reach(token, "first")
        let shown = try bench.daemon.ctl("installations", "show", id)
        #expect(shown["registrations"] as? Int == 1 && shown["ended"] as? Bool == false, "\(shown)")
        // The owner, by either proof.
        let granted = try sdk.ask("POST", path + "/authTokens:generate", own.proof)
        #expect(granted.status == 200 && granted.json["token"] is String, "\(granted)")
        #expect(try sdk.install(bench.sender, id: id, own.proof).refresh == own.refresh)
        let renewed = try sdk.install(bench.sender, id: id, ["Authorization": bench.device.proof])
        #expect(renewed.id == id && renewed.refresh != own.refresh)
        #expect(try sdk.ask("DELETE", path, own.proof).status == 401, "the older refresh token is invalid")
        #expect(try sdk.ask("DELETE", path, renewed.proof).status == 200)
        #expect(throws: (any Error).self) { try bench.reach(token, "last") }
        #expect(try bench.attacker.install(bench.sender, id: id).id != id, "a deleted ID is not reused")
    }

    @Test(
        "an installation's tokens are invalid when the operator revokes it, also after kill -9, and are in no file"
    )
    func revoking() throws {
        let bench = try Bench()
        let sdk = try HTTPSCaller(bench.daemon)
        let own = try sdk.install(bench.sender)
        let app = DeviceCalls.App(category: "com.example.installed", sender: bench.sender, instance: own.id)
        _ = try bench.device.register(bench.daemon, app, installation: own.access)
        let revoked = try bench.daemon.ctl("installations", "revoke", own.id, "--yes")
        #expect(revoked["ended"] as? Bool == true, "\(revoked)")
        bench.daemon.signal(SIGKILL)
        _ = try bench.daemon.wait()
        let next = try RunningDaemon(continuing: bench.daemon.scratch)
        let again = try HTTPSCaller(next)
        let path = "/v1/projects/p/installations/\(own.id)/authTokens:generate"
        #expect(try again.ask("POST", path, own.proof).status == 404)
        #expect(throws: (any Error).self) {
            try bench.device.register(next, app, installation: own.access)
        }
        let missing = try Tool.run(
            "ccsctl",
            [
                "--socket", next.controlSocket, "--json", "installations", "revoke", "dGFzc3dvcmQ_aGVsbG8tdw",
                "--yes",
            ])
        #expect(missing.code == 1, "\(missing)")
        next.signal(SIGTERM)
        _ = try next.wait()
        let folder = next.directory.appendingPathComponent("data")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        for case let file as URL in files {
            guard let bytes = try? Data(contentsOf: file) else { continue }
            #expect(bytes.range(of: Data(own.refresh.utf8)) == nil, "\(file.lastPathComponent)")
        }
    }
}
