import ClientProtocol
import Foundation
import Testing

/// The search on every page: what was pasted is answered in one step.
@Suite(
    "Console: search", .serialized,
    .enabled(if: ConsoleBench.isPossible, "run Scripts/bootstrap --tests --browser first"))
struct ConsoleSearchTests {
    /// Types a text into the search, which `/` reaches from any page.
    private func search(_ bench: ConsoleBench, _ text: String) throws {
        try bench.evaluate("document.querySelector('main h1')?.setAttribute('data-left', '')")
        try bench.run("keys", ["keys": ["/"]])
        try bench.wait("the field", until: "document.activeElement?.id === 'search'")
        try bench.evaluate("document.activeElement.value = ''")
        try bench.run("type", ["text": text])
        try bench.run("keys", ["keys": ["Enter"]])
        try bench.wait(
            "the answer to \(text)",
            until:
                "document.querySelector('main h1:not([data-left])') && !document.querySelector('[aria-busy], .loading')"
        )
    }

    private func expect(_ bench: ConsoleBench, _ texts: String...) throws {
        for text in texts {
            try bench.waitForText(text)
        }
    }

    @Test("a delivered, a waiting, a refused and an unknown message are answered with what to do next")
    func messages() throws {
        let bench = try ConsoleBench()
        let sender = try bench.daemon.firstSender
        let device = try TestDevice(bench.daemon, sender: sender.id)
        _ = try bench.daemon.ctl("send", sender.id, device.token, "n=1", "--message-id", "order-1")
        try device.expectMessage { $0["n"] == "1" }
        try device.sendUpstream(["n": "up"])
        try bench.logIn()
        try eventually("it is delivered") {
            "\(try bench.daemon.ctl("messages", "find", "order-1"))".contains("delivered")
        }
        try search(bench, "order-1")
        try expect(bench, "delivered", "the receiver has acknowledged it", "online", "The history begins")
        #expect(try bench.evaluate("document.querySelectorAll('.life .trace li').length") as? Int == 3)
        let shown = try bench.evaluate("document.getElementById('search').value") as? String
        #expect(shown == "order-1")
        device.stop()
        _ = try bench.daemon.ctl("send", sender.id, device.token, "n=2", "--message-id", "order-2")
        try search(bench, "order-2")
        try expect(bench, "stored", "It waits for the device, which is offline", "It expires in")
        // The page follows it.
        try device.start(bench.daemon)
        try device.expectMessage { $0["n"] == "2" }
        try device.sendUpstream(["n": "up"])
        try expect(bench, "the receiver has acknowledged it")
        let server = try Driver(
            "slixmpp_app_server.py", ["\(bench.daemon.port("app_server"))", sender.id], secret: sender.key)
        try server.expect(event: "connected")
        // Two at once, with IDs as app servers make them.
        let refused = (0..<2).map { "\(UUID()) \($0)" }
        for id in refused { try server.send(["to": "no-token", "message_id": id, "data": ["n": "3"]]) }
        for id in refused { try server.expectJSON("a NACK") { $0["message_id"] as? String == id } }
        try search(bench, refused[1])
        try expect(bench, "refused", "Refused with BAD_REGISTRATION", "correct it first")
        try search(bench, "order-4")
        try expect(bench, "Not in the history", "Find the message")
        #expect(try bench.complaints() == [])
        try bench.picture("life")
    }

    @Test("what Apple has answered, and until when a message is throttled, is in words")
    func reasons() throws {
        let port = try RunningDaemon.freePort()
        let flags = [
            "--admin-port", "\(port)", "--collapsible-burst", "1", "--collapsible-refill-seconds", "3600",
        ]
        let apple = try AppleBench(flags: OperatorAPIBench.flags + flags)
        let tokens = try apple.register(["0400", "0503"].map { AppleBench.deviceToken($0) })
        let bench = try ConsoleBench(OperatorAPIBench(apple.daemon, port: port))
        let sender = apple.sender.id
        let alert = #"{"body": "hello"}"#
        for (token, id) in zip(tokens, ["gone", "busy"]) {
            _ = try Tool.run(
                "ccsctl",
                [
                    "--socket", apple.daemon.controlSocket, "send", sender, token, "--notification", alert,
                    "--message-id", id,
                ])
        }
        let device = try TestDevice(apple.daemon, sender: sender)
        for number in 1...2 {
            let id = "score-\(number)"
            _ = try apple.daemon.ctl(
                "send", sender, device.token, "n=1", "--collapse-key", "score", "--message-id", id)
        }
        try bench.logIn()
        _ = try apple.daemon.ctl("send", sender, tokens[1], "n=1", "--message-id", "data")
        try search(bench, "data")
        try expect(bench, "neither notification nor content_available", "It expires in")
        try search(bench, "gone")
        try expect(bench, "APNs does not know the device token", "Apple said: 400 BadDeviceToken.")
        try search(bench, "busy")
        try expect(bench, "It waits for APNs.", "Apple said: 503 ", "It is tried again by itself")
        try search(bench, "score-2")
        try expect(bench, "Throttled until ", " at the latest.")
        #expect(try bench.complaints() == [])
    }

    @Test("a device, a sender, a topic, an address and an installation are found; a viewer may search, too")
    func others() throws {
        let bench = try ConsoleBench()
        let sender = try bench.daemon.firstSender.id
        let device = try TestDevice(bench.daemon, sender: sender)
        try bench.logIn(as: "victor")
        try search(bench, "\(device.identity.androidID)")
        try expect(bench, "Live trace", "Waiting messages", "Recent messages")
        #expect(!(try bench.text().contains(device.token)))
        try search(bench, sender)
        try expect(bench, "Sender \(sender)", "Sessions of its app servers")
        try search(bench, "/topics/news")
        try expect(bench, "Messages to the topic", "No message to it")
        try search(bench, "127.0.0.1")
        try expect(bench, "Sessions of the address", "device \(device.identity.androidID)")
        try search(bench, "::1")
        try expect(bench, "No peer with this address is logged in")
        // Nothing has this number, nor this ID of an installation: they may be the ID of a message.
        try search(bench, "17")
        try expect(bench, "Not in the history")
        #expect(try bench.complaints() == [])
        try search(bench, "cAAAAAAAAAAAAAAAAAAAAA")
        try expect(bench, "Not in the history")
    }

    @Test("the recent messages of a device follow what happens, and are filtered by their outcome")
    func recent() throws {
        let bench = try ConsoleBench()
        let sender = try bench.daemon.firstSender.id
        let device = try TestDevice(bench.daemon, sender: sender)
        try bench.logIn()
        try bench.goTracing(device.token)
        _ = try bench.daemon.ctl("send", sender, device.token, "n=1", "--message-id", "live-1")
        try device.expectMessage { $0["n"] == "1" }
        try device.sendUpstream(["n": "up"])
        let rows = "[...document.querySelectorAll('table')].at(-1).innerText"
        try bench.wait("the message", until: "\(rows).includes('live-1') && \(rows).includes('delivered')")
        try bench.set("outcome", "bad", "change")
        try expect(bench, "None of the messages that are shown has this outcome.")
        try bench.set("outcome", "good", "change")
        try bench.wait("the message again", until: "\(rows).includes('live-1')")
        #expect(try bench.complaints() == [])
    }
}
