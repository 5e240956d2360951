import ClientProtocol
import Foundation
import Testing

/// The console in a real browser.
@Suite(
    "Console", .serialized,
    .enabled(if: ConsoleBench.isPossible, "run Scripts/bootstrap --tests --browser first"))
struct ConsoleTests {
    private static let pages = [
        "overview", "messages", "senders", "topics", "devices", "apns", "operations", "operations/cluster",
        "operations/log",
    ]

    @Test("every page loads without complaints and is accessible in light, dark and phone width")
    func pages() throws {
        let bench = try ConsoleBench()
        let sender = try bench.daemon.firstSender.id
        let device = try TestDevice(bench.daemon, sender: sender)
        _ = try bench.daemon.ctl("send", sender, device.token, "n=1", "--message-id", "order-1")
        try eventually("it is sent") {
            "\(try bench.daemon.ctl("messages", "find", "order-1"))".contains("sent")
        }
        try bench.logIn()
        let all =
            Self.pages + [
                "senders/\(sender)", "messages/\(device.token)", "messages/order-1", "messages/127.0.0.1",
                "messages/m-1?sender=\(sender)",
            ]
        for (name, width, isDark) in [("light", 1_280, false), ("dark", 1_280, true), ("phone", 375, false)] {
            try bench.run("view", ["width": width, "height": 900, "dark": isDark])
            for page in all {
                try bench.go(page)
                let place = "\(page) in \(name)"
                #expect(try bench.complaints() == [], "\(place)")
                let violations = try bench.run("axe") as? [String]
                #expect(violations == [], "\(place)")
                let isWide = try bench.evaluate("document.documentElement.scrollWidth > innerWidth") as? Bool
                #expect(isWide == false, "\(place) scrolls sideways")
                let problems = try bench.evaluate("document.querySelectorAll('.notice.bad').length") as? Int
                #expect(problems == 0, "\(place)")
                let file = page.prefix { $0 != "?" && $0 != ":" }.replacing("/", with: "-").prefix(24)
                try bench.picture("\(name)-\(file)")
            }
        }
    }

    @Test(
        "the messages of the last hours are in charts and tables, also after a restart, and sums of senders beside them"
    )
    func totals() throws {
        let bench = try ConsoleBench()
        let sender = try bench.daemon.firstSender.id
        let device = try TestDevice(bench.daemon, sender: sender)
        for number in 1...3 { _ = try bench.daemon.ctl("send", sender, device.token, "n=\(number)") }
        try device.expectMessage { $0["n"] == "3" }
        try device.sendUpstream(["n": "up"])
        func counted(_ daemon: RunningDaemon) throws -> [[Int?]] {
            let answer = try daemon.ctl("messages", "hours", "--hours", "2", "--days", "2")
            return ["hours", "days"].map { name in
                let rows = answer[name] as? [[String: Any]] ?? []
                let counts = rows.compactMap { $0["messages"] as? [String: Int] }
                return ["accepted", "delivered"].map { word in counts.reduce(0) { $0 + ($1[word] ?? 0) } }
            }
        }
        try eventually("they are counted") { try counted(bench.daemon) == [[3, 3], [3, 3]] }
        try bench.logIn()
        for name in ["hour", "day (UTC)"] {
            let title =
                "Messages to devices by \(name): accepted 3, delivered or forwarded 3, refused or lost 0"
            let line = "document.querySelector('svg[aria-label=\"\(title)\"] path')"
            try bench.wait("the chart by \(name)", until: "\(line)?.getAttribute('d').includes('L')")
        }
        try bench.evaluate("document.querySelector('main details').open = true")
        try bench.waitForText("Counted since")
        let cells =
            "[...document.querySelectorAll('details td[data-title=Delivered]')].map((one) => Number(one.innerText))"
        try bench.wait("the tables", until: "\(cells).reduce((sum, one) => sum + one, 0) === 6")
        #expect(try bench.run("axe") as? [String] == [])
        try bench.go("senders")
        try bench.waitForText("together 3 accepted, 3 delivered, 0 refused")
        #expect(try bench.complaints() == [])
        bench.daemon.signal(SIGTERM)
        #expect(try bench.daemon.wait() == 0)
        let next = try RunningDaemon(continuing: bench.daemon.scratch)
        #expect(try counted(next) == [[3, 3], [3, 3]])
    }

    @Test("live values move while messages are sent")
    func live() throws {
        let bench = try ConsoleBench()
        let sender = try bench.daemon.firstSender.id
        let device = try TestDevice(bench.daemon, sender: sender)
        try bench.logIn()
        let accepted =
            "Number(document.querySelector('live-chart .legend strong').textContent.replace('–', '0'))"
        try bench.wait(
            "a second sample",
            until: "document.querySelector('live-chart path').getAttribute('d').includes('L')")
        #expect(try bench.evaluate(accepted) as? Int == 0)
        for _ in 0..<5 {
            for _ in 0..<3 { _ = try bench.daemon.ctl("send", sender, device.token, "k=v") }
            if try bench.evaluate("\(accepted) > 0") as? Bool == true { break }
        }
        try bench.wait("the rate", until: "\(accepted) > 0 || document.body.innerText.includes('\(sender)')")
        try bench.wait(
            "the sender in the table", until: "document.querySelector('main').innerText.includes('\(sender)')"
        )
        #expect(try bench.text().contains("All is well"))
        #expect(try bench.complaints() == [])
    }

    @Test("a test message is sent, traced, delivered and receipted; a refused one is explained")
    func send() throws {
        let bench = try ConsoleBench()
        let sender = try bench.daemon.firstSender.id
        let device = try TestDevice(bench.daemon, sender: sender)
        try bench.logIn()
        try bench.goTracing(device.token)
        try bench.evaluate("document.querySelector('[name=delivery_receipt_requested]').checked = true")
        try bench.press("Send")
        try bench.wait("the ACK", until: "document.querySelector('.fate')?.innerText.includes('ACK')")
        try device.expectMessage { $0["title"] == "Hello" }
        try bench.wait(
            "the delivery", until: "document.querySelector('.fate .steps').innerText.includes('delivered')")
        try bench.wait(
            "the receipt",
            until: "document.querySelector('.fate .steps').innerText.includes('waits for an app server')")
        #expect(
            try bench.text().contains("ccsctl send \(sender) \(device.token) --delivery-receipt-requested"))
        try bench.picture("sent")
        try bench.evaluate("document.querySelector('[name=to]').value = 'no-token'")
        try bench.press("Send")
        try bench.wait(
            "the NACK", until: "document.querySelector('.fate').innerText.includes('NACK BAD_REGISTRATION')")
        #expect(try bench.text().contains("correct it first"))
        #expect(try bench.complaints() == [])
    }

    /// The threads of commands and streams that run in a daemon.
    private func commandThreads(of daemon: RunningDaemon) throws -> Int {
        let folder = "/proc/\(daemon.pid)/task"
        return try FileManager.default.contentsOfDirectory(atPath: folder).count { task in
            (try? String(contentsOfFile: "\(folder)/\(task)/comm", encoding: .utf8)) == "ccsd-operator\n"
        }
    }

    @Test("a trace pauses while its tab is hidden, and goes on when it is visible, with a line about the gap")
    func hidden() throws {
        let bench = try ConsoleBench()
        let device = try TestDevice(bench.daemon, sender: try bench.daemon.firstSender.id)
        try bench.logIn()
        try bench.go("messages/\(device.token)")
        let trace = "document.querySelector('device-trace').innerText"
        func hide(_ isHidden: Bool) throws {
            try bench.evaluate(
                "Object.defineProperty(document, 'hidden', { value: \(isHidden), configurable: true }); document.dispatchEvent(new Event('visibilitychange'))"
            )
        }
        try bench.wait("the trace", until: "\(trace).includes('Tracing device')")
        try hide(true)
        try bench.wait("the pause", until: "\(trace).includes('Paused while the page was hidden')")
        try bench.wait("the end of the stream", until: "\(trace).includes('Paused.')")
        try eventually("the server has ended the trace and the figures") {
            try commandThreads(of: bench.daemon) == 0
        }
        try hide(false)
        try bench.wait("the trace again", until: "\(trace).includes('Tracing device')")
        #expect(try bench.complaints() == [])
    }

    @Test("an address with a name of JavaScript's own is no page, and names in notices keep their letters")
    func names() throws {
        let bench = try ConsoleBench()
        try bench.logIn()
        for name in ["__proto__", "constructor", "toString", "nothing"] {
            try bench.evaluate("location.hash = '#/\(name)'")
            try bench.wait(
                name,
                until: "document.querySelector('main').innerText.includes('names no page of the console')")
            try bench.go("overview")
        }
        try bench.evaluate(
            "import('/console/js/components/notice.js').then((module) => { globalThis.sentence = module.sentence; }); 1"
        )
        try bench.wait("the module", until: "globalThis.sentence")
        for (text, shown) in [
            ("invalid limit", "Invalid limit."),
            ("ccsctl senders list shows all", "ccsctl senders list shows all."),
            ("sender_id is for the token", "sender_id is for the token."),
            ("there is none.", "There is none."),
            ("https://a.example is wrong", "https://a.example is wrong."),
        ] {
            #expect(try bench.evaluate("sentence('\(text)')") as? String == shown)
        }
        #expect(try bench.complaints() == [])
    }

    @Test("the keyboard reaches the content, the pages, a dialog and its end")
    func keyboard() throws {
        let bench = try ConsoleBench()
        try bench.logIn()
        try bench.run("open", ["url": bench.address])
        try bench.wait("the page", until: "document.querySelector('main h1')")
        try bench.run("keys", ["keys": ["Tab"]])
        #expect(try bench.evaluate("document.activeElement.id") as? String == "skip")
        try bench.run("keys", ["keys": ["Enter"]])
        #expect(try bench.evaluate("document.activeElement.id") as? String == "main")
        try bench.run("keys", ["keys": ["g", "s"]])
        try bench.wait("the senders", until: "document.querySelector('h1').textContent === 'Senders'")
        #expect(try bench.evaluate("document.activeElement.tagName") as? String == "H1")
        try bench.run("keys", ["keys": ["?"]])
        try bench.wait("the keys", until: "document.querySelector('dialog[open]')")
        try bench.run("keys", ["keys": ["Escape"]])
        try bench.wait("the end of the dialog", until: "!document.querySelector('dialog')")
    }

    @Test("a sender is added, its key shown once and rotated, and it is suspended and resumed")
    func senders() throws {
        let bench = try ConsoleBench()
        try bench.logIn()
        try bench.go("senders")
        try bench.press("Add")
        try bench.wait("the key", until: "document.querySelector('dialog .secret')")
        let key = try #require(try bench.evaluate("document.querySelector('.secret').textContent") as? String)
        try bench.press("I have stored it")
        try bench.wait("the page of the sender", until: "location.hash.startsWith('#/senders/')")
        #expect(key.count >= 16)
        #expect(
            try bench.evaluate("document.documentElement.textContent.includes('\(key)')") as? Bool == false)
        try bench.press("Rotate the key")
        try bench.press("Rotate")
        try bench.wait("the new key", until: "document.querySelector('dialog .secret')")
        #expect(try bench.evaluate("document.querySelector('.secret').textContent") as? String != key)
        try bench.press("I have stored it")
        try bench.press("Suspend")
        try bench.evaluate("document.querySelector('dialog .danger').click()")
        try bench.press("Resume")
        try bench.wait("the resumption", until: "document.querySelector('main').innerText.includes('active')")
        try bench.press("Create an account and its key file")
        try bench.wait(
            "the account", until: "document.querySelector('main').innerText.includes('The key file of')")
        #expect(try bench.complaints() == [])
    }

    @Test("a webhook is set, its secret shown once and rotated, and it is paused, resumed and removed")
    func webhook() throws {
        let bench = try ConsoleBench()
        let sender = try bench.daemon.firstSender.id
        try bench.logIn()
        try bench.go("senders/\(sender)")
        try bench.wait("the form", until: "document.querySelector('[name=url]')")
        try bench.evaluate("document.querySelector('[name=url]').value = 'https://10.0.0.1/ccs'")
        try bench.press("Set the endpoint")
        try bench.wait(
            "the refusal of a private address", until: "document.querySelector('main .notice.bad')")
        try bench.evaluate("document.querySelector('[name=url]').value = 'https://app.example.com/ccs'")
        try bench.press("Set the endpoint")
        try bench.wait("the secret", until: "document.querySelector('dialog .secret')")
        let secret = try bench.evaluate("document.querySelector('.secret').textContent") as? String
        #expect(secret?.hasPrefix("whsec_") == true)
        try bench.press("I have stored it")
        for (title, after) in [
            ("Rotate the secret", nil), ("Pause the webhook", "Resume the webhook"),
            ("Resume the webhook", "Pause the webhook"), ("Remove the webhook", "Set the endpoint"),
        ] {
            try bench.press(title)
            if !title.hasPrefix("Resume") {
                try bench.wait("the question", until: "document.querySelector('dialog[open] .danger')")
                try bench.evaluate("document.querySelector('dialog .danger').click()")
            }
            if let after {
                try bench.wait(
                    after, until: "document.querySelector('main').innerText.includes('\(after)')")
            } else {
                try bench.wait("the new secret", until: "document.querySelector('dialog .secret')")
                let new = try bench.evaluate("document.querySelector('.secret').textContent") as? String
                #expect(new?.hasPrefix("whsec_") == true && new != secret)
                try bench.picture("webhook-secret")
                try bench.press("I have stored it")
            }
        }
        let complaints = try bench.complaints()
        #expect(
            complaints.count == 1 && complaints[0].contains("the server responded with a status of 4"),
            "only that of the private address: \(complaints)")
    }

    @Test("devices are found by the first digits of their numbers")
    func prefix() throws {
        let bench = try ConsoleBench()
        let sender = try bench.daemon.firstSender.id
        let devices = try (0..<4).map { _ in try TestDevice(bench.daemon, sender: sender) }
        try bench.logIn()
        let wanted = "\(devices[1].identity.androidID)"
        try bench.go("devices?prefix=\(wanted.prefix(7))")
        try bench.wait(
            "the device", until: "document.querySelector('table')?.innerText.includes('\(wanted)')")
        let others = devices.map { "\($0.identity.androidID)" }.filter { !$0.hasPrefix(wanted.prefix(7)) }
        let text = try bench.text()
        #expect(others.count >= 2 && others.allSatisfy { !text.contains($0) })
        try bench.go("devices?prefix=\(wanted.dropLast())x")
        let ranges = try bench.evaluate(
            "import('/console/js/pages/device-search.js').then(({ ranges }) => ranges('18').length)")
        #expect(ranges as? Int == 19)
        #expect(try bench.complaints() == [])
    }
}
