import ClientProtocol
import Foundation
import Testing
import Wire

/// What strangers, viewers and other pages try with the console.
@Suite(
    "Console: attacks", .serialized,
    .enabled(if: ConsoleBench.isPossible, "run Scripts/bootstrap --tests --browser first"))
struct ConsoleAttackTests {
    /// Markup that would run a script if it were not shown as text.
    private static let markup = "<img src=x onerror=\"window.pwned=1\"><script>window.pwned=1</script>"

    /// Fails if the markup became elements.
    private func expectText(_ bench: ConsoleBench, _ place: String) throws {
        try eventually("\(place) shows the markup") { try bench.text().contains("<img src=x onerror=") }
        let found = try bench.evaluate(
            "document.querySelectorAll('img, main script').length + (window.pwned ?? 0)")
        #expect(found as? Int == 0, "\(place)")
        #expect(try bench.complaints() == [], "\(place)")
    }

    @Test(
        "markup in labels, apps, subtypes, message IDs, collapse keys, arguments and errors is shown as text")
    func markup() throws {
        let bench = try ConsoleBench()
        let sender = try bench.daemon.firstSender
        _ = try bench.daemon.ctl("senders", "add", "--label", Self.markup)
        let device = try TestDevice(bench.daemon, sender: sender.id, app: Self.markup)
        device.stop()
        let server = try Driver(
            "slixmpp_app_server.py", ["\(bench.daemon.port("app_server"))", sender.id], secret: sender.key)
        try server.expect(event: "connected")
        try server.send([
            "to": device.token, "message_id": Self.markup, "collapse_key": Self.markup,
            "data": ["k": Self.markup],
        ])
        try server.expectJSON("an ACK") { $0["message_id"] as? String == Self.markup }
        try bench.logIn()
        let escaped = Self.markup.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        for page in [
            "senders", "messages/\(device.token)", "messages/\(escaped)?device=\(device.identity.androidID)",
            "devices?app=\(escaped)", "operations/log?command=senders",
        ] {
            try bench.go(page)
            if page.hasPrefix("messages/") && !page.hasPrefix("messages/%") {
                try bench.wait("the message", until: "document.querySelectorAll('table').length >= 2")
            }
            try expectText(bench, page)
        }
        // What the history has of it, when it has ended.
        _ = try bench.daemon.ctl("messages", "cancel", device.token, Self.markup)
        try eventually("it is recorded") { try bench.daemon.steps(of: Self.markup).last == "cancelled" }
        for page in ["messages/\(escaped)", "messages/\(sender.id)"] {
            try bench.go(page)
            try expectText(bench, "\(page) after its end")
        }
        try bench.go("messages/%3Cimg")
        try bench.evaluate("document.querySelector('main').append(\(ConsoleBench.literal(Self.markup)))")
        try expectText(bench, "a text node")
    }

    @Test(
        "canary: markup and files of other servers are stopped and noticed, and so is a field without a label"
    )
    func canary() throws {
        let bench = try ConsoleBench()
        try bench.logIn()
        #expect(throws: HarnessFailure.self) {
            try bench.evaluate("document.body.innerHTML = \(ConsoleBench.literal(Self.markup))")
        }
        let image =
            "Object.assign(document.createElement('img'), { src: 'https://localhost:1/x.png', alt: '' })"
        try bench.evaluate("document.body.append(\(image))")
        usleep(500_000)
        #expect(try bench.complaints().contains { $0.contains("Content Security Policy") })
        try bench.evaluate("document.querySelector('main').append(document.createElement('input'))")
        #expect(try (bench.run("axe") as? [String])?.contains { $0.hasPrefix("label") } == true)
    }

    @Test("a viewer sees what may not be changed, and a removed operator is logged out")
    func roles() throws {
        let bench = try ConsoleBench()
        try bench.logIn(as: "victor")
        try bench.go("senders")
        let disabled = try bench.evaluate(
            "[...document.querySelectorAll('button')].find((one) => one.textContent === 'Add').disabled")
        #expect(disabled as? Bool == true)
        try bench.go("operations/log")
        #expect(try bench.text().contains("for the role operator"))
        _ = try bench.daemon.ctl("operators", "remove", "victor", "--yes")
        try bench.evaluate("location.hash = '#/devices'")
        try bench.wait("the login", until: "document.querySelector('h1')?.textContent === 'ccsd console'")
        #expect(try bench.text().contains("You were logged out"))
        #expect(try bench.text().contains("when the operator is removed"))
    }

    @Test("no page shows a viewer a token, although an app server has made one the ID of a message")
    func tokens() throws {
        let bench = try ConsoleBench()
        let sender = try bench.daemon.firstSender
        let device = try TestDevice(bench.daemon, sender: sender.id)
        device.stop()
        let token = device.token
        let sent = try BareAppServer(bench.daemon, sender).exchange([
            ["to": token, "message_id": token, "collapse_key": token, "time_to_live": 3_600]
        ])
        #expect(sent[token] == "ack")
        try eventually("it is recorded") { try !bench.daemon.steps(of: token).isEmpty }
        let secret = ConsoleBench.literal(String(token.suffix(100)))
        func shows(_ page: String) throws -> Bool {
            try bench.go(page)
            try bench.wait("the message", until: "document.body.innerText.includes(':APA91b')")
            return try bench.evaluate("document.documentElement.outerHTML.includes(\(secret))") as? Bool
                == true
        }
        try bench.logIn(as: "victor")
        for page in ["messages/\(device.identity.androidID)", "messages/\(sender.id)"] {
            #expect(try !shows(page), "\(page)")
        }
        try bench.evaluate("document.querySelector('main').append(\(secret))")
        #expect(try bench.text().contains(token.suffix(100)), "canary")
    }

    @Test("a wrong token is refused and not kept")
    func wrongToken() throws {
        let bench = try ConsoleBench()
        try bench.run("open", ["url": bench.address])
        try bench.wait("the login page", until: "document.activeElement?.name === 'token'")
        try bench.run("type", ["text": "ccso_wrong"])
        try bench.run("keys", ["keys": ["Enter"]])
        try bench.wait("the refusal", until: "document.querySelector('.notice.bad')")
        let kept = try bench.evaluate(
            "JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie")
        #expect((kept as? String)?.contains("ccso_") == false)
    }

    @Test("files have a policy, a type and an entity tag; other paths and methods are refused")
    func files() throws {
        let bench = try OperatorAPIBench()
        let page = try bench.ask("GET", "/console/", as: nil)
        #expect(page.status == 200 && page.head.contains("Content-Type: text/html; charset=UTF-8"))
        for part in ["default-src 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"] {
            #expect(page.head.contains(part))
        }
        #expect(!page.head.contains("unsafe-") && page.head.contains("Cache-Control: no-cache"))
        let tag = page.head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") }?.dropFirst(6)
        let again = try bench.ask("GET", "/console/", as: nil, ["If-None-Match": String(try #require(tag))])
        #expect(again.status == 304)
        let script = try bench.ask("GET", "/console/js/main.js", as: nil)
        #expect(script.status == 200 && script.head.contains("text/javascript"))
        let text = try #require(page.json.text)
        let names = text.matches(of: /(?:href|src)="(\/console\/console-[0-9a-f]{24}\.(?:css|js))"/).map {
            String($0.1)
        }
        #expect(names.count == 2 && text.matches(of: /(?:href|src)="\/console\//).count == 3, "\(page)")
        for name in names {
            let plain = try bench.ask("GET", name, as: nil)
            #expect(plain.status == 200 && plain.head.contains("max-age=31536000, immutable"))
            #expect(!plain.head.contains("Content-Encoding"))
            let coded = try bench.ask("GET", name, as: nil, ["Accept-Encoding": "br, gzip"])
            #expect(coded.status == 200 && coded.head.contains("Content-Encoding: gzip"))
            #expect(plain.head.contains("Vary: Accept-Encoding"))
            func length(_ head: String) -> Int {
                head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) } ?? 0
            }
            #expect(length(coded.head) > 0 && length(coded.head) * 2 < length(plain.head))
        }
        for path in [
            "/console/../etc/passwd", "/console/%2e%2e/ca.key", "/console/js", "/console/js/../../x",
            "/consolex",
        ] {
            #expect(try bench.ask("GET", path, as: nil).status == 404, "\(path)")
        }
        #expect(try bench.ask("POST", "/console/", as: nil, body: "{}").status == 405)
    }
}
