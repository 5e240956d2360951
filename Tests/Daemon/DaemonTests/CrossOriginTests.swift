import Client
import ClientProtocol
import Foundation
import Testing

/// A web page of another origin with the requests of the Firebase SDK, in Debian's Chromium, which asks before it sends them.
@Suite(
    "Web pages", .serialized,
    .enabled(
        if: TestPaths.hasPython && TestPaths.hasChromium, "run Scripts/bootstrap --tests --browser first"))
struct CrossOriginTests {
    /// A daemon whose administrative port serves as the origin of the page, and a browser on that page.
    private final class Bench {
        let daemon: RunningDaemon
        let browser: Driver
        let file: URL
        let origin: String
        private let scratch: Scratch

        init() throws {
            scratch = try Scratch()
            file = scratch.url.appendingPathComponent("ccsd.yaml")
            try "format: 1\n".write(to: file, atomically: true, encoding: .utf8)
            let port = try RunningDaemon.freePort()
            origin = "http://127.0.0.1:\(port)"
            daemon = try RunningDaemon(flags: ["--config", file.path, "--admin-port", "\(port)"])
            browser = try Driver(
                "console_browser.py", [scratch.url.appendingPathComponent("home").path, daemon.authority])
            try browser.expect(event: "started", seconds: 60)
            try browser.command(["do": "open", "url": "\(origin)/healthz"])
            try browser.expect(event: "open", seconds: 60)
        }

        /// Has the page send a request. Returns status and body, or the error of a request that the browser did not permit.
        func fetch(
            _ method: String, _ path: String, _ headers: [String: String], _ body: Any? = nil
        ) throws -> (status: Int, json: [String: Any], error: String?) {
            var options: [String: Any] = ["method": method, "headers": headers]
            if let body {
                options["body"] = String(
                    decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
            }
            let literal = String(
                decoding: try JSONSerialization.data(withJSONObject: options), as: UTF8.self)
            let script = """
                fetch('https://localhost:\(try daemon.port("https"))\(path)', \(literal)).then(
                    async (answer) => ({status: answer.status, text: await answer.text()}),
                    (error) => ({error: String(error)}))
                """
            try browser.command(["do": "eval", "js": script])
            let answer = try browser.expect(event: "eval", seconds: 60)
            guard let value = answer["value"] as? [String: Any] else { throw HarnessFailure("\(answer)") }
            let data = Data((value["text"] as? String ?? "").utf8)
            let json = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
            return (value["status"] as? Int ?? 0, json ?? [:], value["error"] as? String)
        }

        func reload(_ origins: String) throws {
            try "format: 1\ncors_origins: \(origins)\n".write(to: file, atomically: true, encoding: .utf8)
            #expect(try daemon.ctl("reload")["changed"] as? [String] == ["cors_origins"])
        }
    }

    private static let fid = "dGFzc3dvcmQ_aGVsbG8tdw"
    private static let sdk = [
        "Content-Type": "application/json", "Accept": "application/json", "x-goog-api-key": "AIzaSyPage",
        "x-firebase-client": "eyJ2ZXJzaW9uIjoyLCJoZWFydGJlYXRzIjpbXX0",
    ]

    @Test("the SDK of a web page installs, gets a token, subscribes to a topic and reads refusals")
    func sdk() throws {
        let bench = try Bench()
        let made = try bench.daemon.ctl("senders", "add")
        let sender = try #require(made["sender_id"] as? String)
        let installed = try bench.fetch(
            "POST", "/v1/projects/shop/installations", Self.sdk,
            [
                "fid": Self.fid, "authVersion": "FIS_v2", "appId": "1:\(sender):web:abc",
                "sdkVersion": "w:0.6.9",
            ])
        #expect(installed.status == 200, "\(installed)")
        let id = try #require(installed.json["fid"] as? String)
        let refresh = try #require(installed.json["refreshToken"] as? String)
        let renewed = try bench.fetch(
            "POST", "/v1/projects/shop/installations/\(id)/authTokens:generate",
            Self.sdk.merging(["Authorization": "FIS_v2 \(refresh)"]) { $1 },
            ["installation": ["sdkVersion": "w:0.6.9", "appId": "1:\(sender):web:abc"]])
        let access = try #require(renewed.json["token"] as? String, "\(renewed)")

        let device = try TestDevice(bench.daemon, sender: sender)
        let app = try #require(WebApp(subtype: "wp:\(bench.origin)/#1"))
        let endpoint = try device.register(
            bench.daemon,
            DeviceCalls.App(
                category: "org.chromium.linux", sender: WebApp.usualKey, subtype: app.subtype))
        let headers = Self.sdk.merging(["x-goog-firebase-installations-auth": "FIS \(access)"]) { $1 }
        let keys = [app.publicKey, app.auth].map { Data($0).base64EncodedString() }
        let registered = try bench.fetch(
            "POST", "/v1/projects/shop/registrations", headers,
            [
                "web": [
                    "endpoint": "https://fcm.googleapis.com/fcm/send/\(endpoint)", "p256dh": keys[0],
                    "auth": keys[1],
                ]
            ])
        let token = try #require(registered.json["token"] as? String, "\(registered)")
        #expect(token.hasPrefix("\(id):APA91b"), "\(token)")
        let topic = try bench.fetch(
            "POST", "/v1/projects/shop/registrations/\(id)/topicSubscriptions/news:subscribe", headers)
        #expect(topic.status == 200, "\(topic)")
        _ = try bench.daemon.ctl("send", sender, token, "n=page")
        _ = try device.expectEncrypted()
        _ = try bench.daemon.ctl("send", sender, "/topics/news", "n=topic")

        let refused = try bench.fetch("POST", "/v1/projects/shop/registrations", Self.sdk, [String: String]())
        #expect((400...401).contains(refused.status) && refused.json["error"] != nil, "\(refused)")
        let push = try bench.fetch(
            "POST", "/fcm/send/\(endpoint)",
            [
                "TTL": "60", "Content-Encoding": "aes128gcm", "Urgency": "high",
                "Authorization": "vapid t=a, k=b",
            ])
        #expect((400..<500).contains(push.status), "\(push)")
        let ended = try bench.fetch("DELETE", "/v1/projects/shop/registrations/\(token)", headers)
        #expect(ended.status == 200, "\(ended)")
    }

    @Test(
        "no page can send with a server key or an access token, and only pages of listed origins get tokens")
    func refusals() throws {
        let bench = try Bench()
        let made = try bench.daemon.ctl("senders", "add")
        let sender = try #require(made["sender_id"] as? String)
        let key = try #require(made["key"] as? String)
        for (path, authorization) in [
            ("/fcm/send", "key=\(key)"), ("/v1/projects/\(sender)/messages:send", "Bearer x"),
            ("/iid/v1:batchAdd", "key=\(key)"),
        ] {
            let sent = try bench.fetch(
                "POST", path, ["Authorization": authorization, "Content-Type": "application/json"],
                ["to": "/topics/news"])
            #expect(sent.error?.contains("Failed to fetch") == true, "\(path): \(sent)")
        }
        func install() throws -> (status: Int, json: [String: Any], error: String?) {
            try bench.fetch(
                "POST", "/v1/projects/p\(Int.random(in: 0..<1_000_000))/installations", Self.sdk,
                ["authVersion": "FIS_v2", "appId": "1:\(sender):web:abc"])
        }
        #expect(try install().status == 200, "canary: the page may install before")
        // Also on the connection that the browser keeps, which ends with the reload.
        try bench.reload("[\"https://app.example.com\"]")
        try eventually("another origin is listed") { try install().error != nil }
        try bench.reload("[\"\(bench.origin)\"]")
        try eventually("its origin is listed") { try install().status == 200 }
        try bench.reload("[]")
        try eventually("no origin is listed") { try install().error != nil }
    }
}
