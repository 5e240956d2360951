import Foundation
import Testing

/// Debian's Chromium, the reference client of the device protocol, by Push API and by chrome.gcm (mcs-device 6).
@Suite(
    "Chromium", .serialized,
    .enabled(
        if: TestPaths.hasPython && TestPaths.hasChromium, "run Scripts/bootstrap --tests --browser first"))
struct ChromiumTests {
    /// A daemon and a browser that can be restarted.
    private struct Bench {
        let daemon: RunningDaemon
        let sender: (id: String, key: String)

        init() throws {
            daemon = try RunningDaemon()
            sender = try daemon.firstSender
        }

        func browser(trusting authority: String? = nil) throws -> Driver {
            let browser = try Driver(
                "chromium_device.py",
                [
                    daemon.directory.appendingPathComponent("home").path, String(daemon.port("https")),
                    String(daemon.port("device")), authority ?? daemon.authority,
                ])
            try browser.expect(event: "started", seconds: 60)
            return browser
        }

        func pusher() throws -> (Driver, key: String) {
            let pusher = try Driver("web_push_server.py", [], environment: daemon.hostMap())
            guard let key = try pusher.expect(event: "key")["public"] as? String else {
                throw HarnessFailure("the web push server reported no key")
            }
            return (pusher, key)
        }

        func xmpp() throws -> Driver {
            let server = try Driver(
                "slixmpp_app_server.py", [String(daemon.port("app_server")), sender.id], secret: sender.key)
            try server.expect(event: "connected")
            return server
        }
    }

    /// Returns the value of a script that is evaluated in the page or the extension.
    private func value(_ browser: Driver, _ place: String, _ script: String) throws -> Any? {
        try browser.command(["do": place, "js": script])
        return try browser.expect(event: "value", seconds: 60)["value"]
    }

    private func answer(_ browser: Driver, _ script: String) throws -> [String: Any] {
        try #require(try value(browser, "extension", script) as? [String: Any])
    }

    /// Subscribes. After a failed first check-in the browser refuses subscriptions until its retry succeeds.
    private func subscription(_ browser: Driver, _ key: String) throws -> [String: Any] {
        for _ in 0..<10 {
            if let made = try value(browser, "page", "subscribe('\(key)')") as? [String: Any] { return made }
            sleep(3)
        }
        throw HarnessFailure("the browser still refuses to subscribe after ten attempts")
    }

    /// Posts a message to a web app and returns the HTTP status.
    private func push(
        _ server: Driver, _ subscription: [String: Any], _ text: String, _ more: [String: Any] = [:]
    ) throws -> Int? {
        try server.command(
            ["do": "push", "subscription": subscription, "text": text].merging(more) { $1 })
        return try server.expect(event: "pushed")["status"] as? Int
    }

    @Test("Chromium's Push API gets both encodings and messages stored while it was closed, and unsubscribes")
    func pushAPI() throws {
        let bench = try Bench()
        let (server, key) = try bench.pusher()
        var browser = try bench.browser()
        let subscription = try subscription(browser, key)
        #expect(try push(server, subscription, "first") == 201)
        #expect(try browser.expect(event: "push")["value"] as? String == "first")
        let old: [String: Any] = ["encoding": "aesgcm", "old": true, "urgency": "high", "topic": "news"]
        #expect(try push(server, subscription, "second", old) == 201)
        #expect(try browser.expect(event: "push")["value"] as? String == "second")
        // Chromium sends an ack after ten messages.
        for count in 0..<10 {
            #expect(try push(server, subscription, "n \(count)") == 201)
            #expect(try browser.expect(event: "push")["value"] as? String == "n \(count)")
        }
        try eventually("at least ten messages are delivered") {
            let audit = try bench.daemon.ctl("audit")["downstream"] as? [String: Any]
            return audit?["delivered"] as? Int ?? 0 >= 10
        }
        browser.finish()
        #expect(try push(server, subscription, "waited", ["ttl": 600]) == 201)
        browser = try bench.browser()
        #expect(try browser.expect(event: "push", seconds: 60)["value"] as? String == "waited")
        #expect(try value(browser, "page", "unsubscribe()") as? Bool == true)
        // unsubscribe() returns before the browser has notified the server.
        try eventually("the subscription has ended") { try push(server, subscription, "late") == 410 }
        #expect(try bench.daemon.ctl("audit")["holds"] as? Bool == true)
    }

    @Test("chrome.gcm registers, receives, sends, reports errors and deleted messages, and unregisters")
    func extensions() throws {
        let bench = try Bench()
        let server = try bench.xmpp()
        var browser = try bench.browser()
        let made = try answer(browser, "register('\(bench.sender.id)')")
        let token = try #require(made["value"] as? String, "\(made)")
        _ = try value(browser, "extension", "flush()")
        try server.send([
            "to": token, "message_id": "m", "data": ["n": "1"], "delivery_receipt_requested": true,
        ])
        let received = try browser.expect(event: "gcm")["value"] as? [String: [String: Any]]
        #expect(received?["message"]?["data"] as? [String: String] == ["n": "1"])
        #expect(received?["message"]?["from"] as? String == bench.sender.id)
        try server.expectJSON("the receipt") { $0["message_type"] as? String == "receipt" }

        let message = "messageId: 'up', timeToLive: 60, data: { a: 'b' }"
        _ = try answer(
            browser, "send({ destinationId: '\(bench.sender.id)@gcm.googleapis.com', \(message) })")
        let upstream = try server.expectJSON("the upstream message") { $0["category"] != nil }
        #expect(upstream["from"] as? String == token && upstream["message_id"] as? String == "up")
        try server.send(["to": token, "message_id": "up", "message_type": "ack"])
        _ = try answer(browser, "send({ destinationId: '1@gcm.googleapis.com', \(message) })")
        let refused = try browser.expect(event: "gcm")["value"] as? [String: [String: Any]]
        #expect(refused?["error"]?["messageId"] as? String == "up", "\(String(describing: refused))")

        browser.finish()
        for count in 0...100 {
            try server.send(["to": token, "message_id": "away-\(count)", "data": ["n": "x"]])
            try server.expectJSON("an ACK") { $0["message_id"] as? String == "away-\(count)" }
        }
        browser = try bench.browser()
        _ = try value(browser, "extension", "flush()")
        let discarded = try browser.expect(event: "gcm", seconds: 60)["value"] as? [String: Any]
        #expect(discarded?["deleted"] as? Bool == true, "\(String(describing: discarded))")
        let ended = try answer(browser, "unregister()")
        #expect(ended["error"] == nil || ended["error"] is NSNull, "\(ended)")
        try server.send(["to": token, "message_id": "gone", "data": ["n": "x"]])
        let nack = try server.expectJSON("the answer") { $0["message_id"] as? String == "gone" }
        #expect(nack["error"] as? String == "DEVICE_UNREGISTERED")
        #expect(try bench.daemon.ctl("audit")["holds"] as? Bool == true)
    }

    @Test("canary: a browser gets no token when it does not trust the authority")
    func canary() throws {
        let bench = try Bench()
        let browser = try bench.browser(trusting: "-")
        try browser.command(["do": "extension", "js": "register('\(bench.sender.id)')"])
        #expect(throws: HarnessFailure.self) {
            try browser.expect("a token", seconds: 8) {
                ($0["value"] as? [String: Any])?["value"] as? String != nil
            }
        }
    }
}
