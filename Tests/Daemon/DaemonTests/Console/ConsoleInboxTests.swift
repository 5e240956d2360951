import Foundation
import Testing

/// The inboxes of virtual devices and the test clock in a real browser.
@Suite(
    "Console: test bench", .serialized,
    .enabled(if: ConsoleBench.isPossible, "run Scripts/bootstrap --tests --browser first"))
struct ConsoleInboxTests {
    private static let flags = ["--test-bench", "--test-clock"]
    /// Markup that would run a script if it were not shown as text.
    private static let markup = "<img src=x onerror=\"window.pwned=1\">"

    private func device(_ bench: ConsoleBench, _ sender: String, app: String = "org.example.app") throws -> (
        id: String, token: String
    ) {
        let made = try bench.daemon.ctl("virtual-devices", "add", sender, app, "--label", app)
        return (
            try #require(made["device"] as? String), try #require(made["token"] as? String, "\(made)")
        )
    }

    @Test("the pages are accessible in light, dark and phone width, with devices, messages and the banner")
    func pages() throws {
        let bench = try ConsoleBench(flags: Self.flags)
        let sender = try bench.daemon.firstSender.id
        let device = try device(bench, sender)
        for text in ["Hello", "a longer text that a phone has to break, as it is wider than its screen"] {
            _ = try bench.daemon.ctl("send", sender, device.token, "title=\(text)", "body=\(text)")
        }
        _ = try bench.daemon.ctl("clock", "advance", "28d")
        try bench.logIn()
        for (name, width, isDark) in [("light", 1_280, false), ("dark", 1_280, true), ("phone", 375, false)] {
            try bench.run("view", ["width": width, "height": 900, "dark": isDark])
            for page in ["inbox", "inbox/\(device.id)", "inbox/faults", "inbox/recorders", "operations"] {
                try bench.go(page)
                let place = "\(page) in \(name)"
                if page == "inbox/\(device.id)" {
                    try bench.wait(
                        "both messages", until: "document.querySelectorAll('.inbox li').length === 2")
                }
                try bench.wait("the banner", until: "!document.querySelector('.test-clock').hidden")
                #expect(try bench.complaints() == [], "\(place)")
                #expect(try bench.run("axe") as? [String] == [], "\(place)")
                let isWide = try bench.evaluate("document.documentElement.scrollWidth > innerWidth") as? Bool
                #expect(isWide == false, "\(place) scrolls sideways")
                let problems = try bench.evaluate("document.querySelectorAll('.notice.bad').length") as? Int
                #expect(problems == 0, "\(place)")
                try bench.picture(
                    "\(name)-\(page.replacing("/", with: "-").replacing(device.id, with: "device"))")
            }
        }
    }

    @Test("a device is created, gets a message while it is watched, answers, goes offline and is removed")
    func life() throws {
        let bench = try ConsoleBench(flags: Self.flags)
        let sender = try bench.daemon.firstSender
        let server = try TestAppServer(bench.daemon, sender: sender)
        try bench.logIn()
        // By the keyboard alone: g i, and the form is filled in but for the label.
        try bench.run("keys", ["keys": ["g", "i"]])
        try bench.wait(
            "the sender", until: "document.querySelector('[name=sender_id]')?.value === '\(sender.id)'")
        try bench.press("Create")
        try bench.wait("the page of the device", until: "/inbox\\/\\d+$/.test(location.hash)")
        try bench.waitForText("online")
        let id = try #require(try bench.evaluate("location.hash.split('/')[2]") as? String)
        let row = try #require(
            (bench.daemon.ctl("virtual-devices", "list")["devices"] as? [[String: Any]])?.first)
        #expect(row["device"] as? String == id)
        #expect(try server.send("seen", to: try #require(row["token"] as? String)) == "ACK")
        try bench.wait(
            "the message", until: "document.querySelector('.inbox li')?.innerText.includes('seen')")
        #expect(try bench.text().contains("ccsctl virtual-devices messages \(id) --wait 10"))

        try bench.press("Send")
        try bench.waitForText("The server has stored message bench-")
        let sent =
            try bench.evaluate(
                "document.querySelector('main').innerText.match(/message (bench-[0-9a-f]+)/)[1]") as? String
        try server.expectUpstream(try #require(sent))

        try bench.press("Go offline")
        try bench.wait(
            "the command",
            until:
                "document.querySelector('main').textContent.includes('ccsctl virtual-devices change \(id) --connection online')"
        )
        #expect(try server.send("late", to: try #require(row["token"] as? String)) == "ACK")
        try bench.press("Send")
        try bench.waitForText("is sent when the device is connected")
        try bench.press("Go online")
        try bench.wait("the late one", until: "document.querySelectorAll('.inbox li').length === 2")
        try bench.press("Unregister the app")
        try bench.evaluate("document.querySelector('dialog .danger').click()")
        try bench.waitForText("unregistered")
        try bench.press("Remove the device")
        try bench.evaluate("document.querySelector('dialog .danger').click()")
        try bench.wait("the list", until: "location.hash === '#/inbox'")
        try bench.waitForText("None yet.")
        #expect(try bench.complaints() == [])
        server.end()
    }

    @Test("markup in apps, labels, pairs, collapse keys and answers is shown as text")
    func markup() throws {
        let bench = try ConsoleBench(flags: Self.flags)
        let sender = try bench.daemon.firstSender
        let device = try device(bench, sender.id, app: Self.markup)
        let server = try Driver(
            "slixmpp_app_server.py", ["\(bench.daemon.port("app_server"))", sender.id], secret: sender.key)
        try server.expect(event: "connected")
        try server.send([
            "to": device.token, "message_id": "m-1", "collapse_key": Self.markup,
            "data": [Self.markup: Self.markup],
        ])
        try server.expectJSON("an ACK") { $0["message_id"] as? String == "m-1" }
        try bench.logIn()
        for page in ["inbox", "inbox/\(device.id)", "inbox/\(Self.markup.replacing("/", with: ""))"] {
            try bench.go(page)
            if page == "inbox/\(device.id)" {
                try bench.wait("the message", until: "document.querySelector('.inbox li')")
                let item = try bench.evaluate("document.querySelector('.inbox li').innerText") as? String
                #expect(item?.components(separatedBy: Self.markup).count == 4, "\(item ?? "")")
                try bench.evaluate("document.querySelector('.inbox details').open = true")
                let json = try bench.evaluate("document.querySelector('.inbox pre').innerText") as? String
                #expect(json?.contains("onerror=") == true, "\(json ?? "")")
            }
            try bench.waitForText("<img src=x onerror=")
            let found = try bench.evaluate("document.querySelectorAll('img').length + (window.pwned ?? 0)")
            #expect(found as? Int == 0, "\(page)")
            // The API refuses the last page: its device is not a number.
            let refused = ["400", "409"]
            let others = try bench.complaints().filter { line in !refused.contains { line.contains($0) } }
            #expect(others == [], "\(page)")
        }
    }

    @Test("the test clock is moved in the browser, which then counts by the server's time")
    func clock() throws {
        let bench = try ConsoleBench(flags: Self.flags)
        try bench.logIn()
        try bench.wait(
            "the banner", until: "document.querySelector('.test-clock').innerText.includes('can be moved')")
        try bench.go("operations")
        try bench.evaluate("document.querySelector('[name=duration]').value = '4w'")
        try bench.press("Move")
        try bench.waitForText("The server is 28 d ahead of the machine.")
        #expect(try bench.text().contains("ccsctl clock advance 4w"))
        try bench.wait(
            "the banner", until: "document.querySelector('.test-clock').innerText.includes('28 d ahead')")
        let sender = try bench.daemon.firstSender.id
        let device = try device(bench, sender)
        try bench.go("messages/\(device.id)")
        try bench.wait("the device", until: "document.querySelector('.facts')")
        let text = try bench.text()
        #expect(
            !text.contains("in 2") || !text.contains("in 27 d"), "its contact is not in the future: \(text)")
        try bench.wait(
            "the contact", until: "/Last contact\\s+\\d+ (s|min) ago/.test(document.body.innerText)")
        #expect(try bench.complaints() == [])
    }

    @Test(
        "without the test bench there is no such place, and the address explains why; a viewer may not look")
    func off() throws {
        let without = try ConsoleBench()
        try without.logIn()
        #expect(try without.evaluate("document.querySelector('[data-place=inbox]')") is NSNull?)
        #expect(try without.evaluate("document.querySelector('.test-clock').hidden") as? Bool == true)
        try without.go("inbox")
        #expect(try without.text().contains("The test bench is off"))
        #expect(try without.complaints() == [])
        let bench = try ConsoleBench(flags: Self.flags)
        try bench.logIn(as: "victor")
        try bench.go("inbox")
        #expect(try bench.text().contains("for the role operator"))
        #expect(try bench.complaints() == [])
    }
}
