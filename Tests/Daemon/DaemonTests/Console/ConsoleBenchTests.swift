import Foundation
import Testing

/// What the console does for test suites, and what it shows of texts and tokens that mislead, in a real browser.
@Suite(
    "Console: inboxes, faults and misleading texts", .serialized,
    .enabled(if: ConsoleBench.isPossible, "run Scripts/bootstrap --tests --browser first"))
struct ConsoleBenchTests {
    /// A label that ends right to left, and would reverse what follows it.
    private static let reversing = "shop\u{202e}drawkcab"

    private func device(_ bench: ConsoleBench, label: String = "phone") throws -> (id: String, token: String)
    {
        let sender = try bench.daemon.firstSender.id
        let made = try bench.daemon.ctl(
            "virtual-devices", "add", sender, "org.example.app", "--label", label)
        return (try #require(made["device"] as? String), try #require(made["token"] as? String, "\(made)"))
    }

    @Test(
        "an inbox begins with the token and the form, and messages beyond 200 are on further pages, until they are cleared"
    )
    func inbox() throws {
        let bench = try ConsoleBench(flags: ["--test-bench"])
        let sender = try bench.daemon.firstSender.id
        let device = try device(bench)
        for number in 1...230 {
            _ = try bench.daemon.ctl("send", sender, device.token, "number=\(number)")
        }
        try bench.logIn()
        try bench.go("inbox/\(device.id)")
        let items = "document.querySelectorAll('.inbox li').length"
        try bench.wait("the latest", until: "\(items) === 200")
        try bench.waitForText("230 received")
        let headings = try bench.evaluate(
            "[...document.querySelectorAll('main h2')].map((one) => one.textContent).join()")
        #expect(headings as? String == "Device,Send to the app server,Messages")
        let first = try bench.evaluate("document.querySelector('main section').innerText") as? String
        #expect(first?.hasPrefix("Device\n\nToken \(device.token) Copy") == true, "\(first ?? "")")
        let head = try bench.evaluate("document.querySelector('.inbox li').innerText") as? String
        #expect(head?.contains("230") == true && head?.contains("number\n230") == true, "\(head ?? "")")
        try bench.press("Earlier messages")
        try bench.wait("the earliest", until: "\(items) === 230")
        #expect(
            try bench.evaluate("document.querySelector('.inbox').lastElementChild.dataset.number") as? String
                == "1")
        #expect(
            try bench.evaluate(
                "[...document.querySelectorAll('button')].find((one) => one.textContent === 'Earlier messages').hidden"
            ) as? Bool == true)
        let json = try bench.evaluate("document.querySelector('.inbox pre').textContent") as? String
        let row = try JSONSerialization.jsonObject(with: Data((json ?? "").utf8)) as? [String: Any]
        #expect(row?["data"] as? [String: String] == ["number": "230"])
        try bench.press("Clear")
        try bench.wait("the empty list", until: "\(items) === 0")
        _ = try bench.daemon.ctl("send", sender, device.token, "number=231")
        try bench.wait("the next", until: "\(items) === 1")
        try bench.go("inbox")
        try bench.go("inbox/\(device.id)")
        try bench.wait("it stays cleared", until: "\(items) === 1")
        #expect(try bench.complaints() == [])
    }

    @Test("faults and recorders have pages, on which they are added, seen, emptied and removed")
    func pages() throws {
        let bench = try ConsoleBench(flags: ["--test-bench"])
        let sender = try bench.daemon.firstSender
        let device = try device(bench)
        let server = try TestAppServer(bench.daemon, sender: sender)
        try bench.logIn()
        try bench.go("inbox/faults")
        try bench.evaluate(
            "document.querySelector('[name=token]').value = '\(device.token)'; document.querySelector('[name=error]').value = 'SERVICE_UNAVAILABLE'"
        )
        try bench.press("Add")
        try bench.waitForText("waits for a message")
        #expect(try server.send("refused", to: device.token) == "SERVICE_UNAVAILABLE")
        try bench.wait("the hit", until: "document.querySelector('td[data-title=Hits]')?.innerText === '1'")
        try bench.press("Remove all")
        try bench.waitForText("None: messages are treated as on any other server.")
        server.end()
        try bench.go("inbox/recorders")
        try bench.evaluate("document.querySelector('[name=sender_id]').value = '\(sender.id)'")
        try bench.press("Record")
        try bench.wait("the recorder", until: "location.hash.endsWith('/recorders/\(sender.id)')")
        _ = try bench.daemon.ctl("virtual-devices", "send", device.id, "text=recorded")
        try bench.wait(
            "the message", until: "document.querySelector('.inbox li')?.innerText.includes('recorded')")
        try bench.press("Clear")
        try bench.wait("the empty list", until: "!document.querySelector('.inbox li')")
        let left = try bench.daemon.ctl("recorders", "messages", sender.id)["messages"] as? [Any]
        #expect(left?.count == 0)
        try bench.go("inbox/recorders")
        try bench.press("Remove")
        try bench.evaluate("document.querySelector('dialog .danger').click()")
        try bench.waitForText("None yet.")
        #expect(try bench.complaints() == [])
    }

    @Test("the messages of all devices are in one list, which is searched, and one is sent again")
    func allInboxes() throws {
        let bench = try ConsoleBench(flags: ["--test-bench"])
        let sender = try bench.daemon.firstSender.id
        let devices = try ["left", "right"].map { try device(bench, label: $0) }
        for (device, text) in zip(devices, ["first", "second"]) {
            _ = try bench.daemon.ctl("send", sender, device.token, "text=\(text)")
        }
        try bench.logIn()
        try bench.go("inbox/all")
        let items = "[...document.querySelectorAll('.inbox li')].map((one) => one.innerText)"
        try bench.wait("both", until: "\(items).length === 2 && \(items)[0].includes('second')")
        #expect(
            try bench.evaluate("\(items)[0].includes('right') && \(items)[1].includes('left')") as? Bool
                == true)
        try bench.set("filter", "FIRST", "input")
        try bench.wait("the found one", until: "\(items).length === 1 && \(items)[0].includes('first')")
        try bench.press("Send again")
        try bench.wait("the same again", until: "\(items).length === 2")
        try bench.set("filter", "nothing", "input")
        try bench.waitForText("No message has this text.")
        try bench.set("filter", "", "input")
        try bench.wait("all three", until: "\(items).length === 3")
        #expect(try bench.run("axe") as? [String] == [])
        try bench.picture("inbox-all")
        try bench.press("Clear")
        try bench.waitForText("None yet.")
        #expect(try bench.complaints() == [])
    }

    @Test(
        "an unregistered token is called so, a message to it goes to no other app, and a part of a token is no message ID"
    )
    func tokens() throws {
        let bench = try ConsoleBench(flags: ["--test-bench"])
        let device = try device(bench)
        try bench.logIn()
        try bench.go("messages/\(device.token)")
        try bench.waitForText("this token")
        #expect(try bench.text().contains("The token is unregistered") == false)
        _ = try bench.daemon.ctl("virtual-devices", "unregister", device.id)
        try bench.go("overview")
        try bench.go("messages/\(device.token)")
        try bench.waitForText("The token is unregistered")
        #expect(try bench.evaluate("document.querySelector('[name=to]').value") as? String == device.token)
        try bench.go("inbox/\(device.id)")
        try bench.waitForText("unregistered")
        let parts = [
            String(device.token.dropLast()), String(device.token.dropFirst(5)),
            String(device.token.prefix(40)),
            "\(device.token.prefix(19))…\(device.token.suffix(8))",
        ]
        for part in parts {
            try bench.go("messages/\(part)")
            try bench.waitForText("A part of a token")
        }
        try bench.go("messages/order-17")
        try bench.waitForText("Find the message")
        #expect(try bench.complaints() == [])
    }

    @Test(
        "a text that changes its direction changes that of nothing beside it, and a command shows it as it is copied"
    )
    func direction() throws {
        let bench = try ConsoleBench(flags: ["--test-bench"])
        let device = try device(bench, label: Self.reversing)
        _ = try bench.daemon.ctl("senders", "add", "--label", Self.reversing)
        let sender = try bench.daemon.firstSender.id
        _ = try bench.daemon.ctl("send", sender, device.token, "k=\(Self.reversing)")
        try bench.logIn()
        let texts = """
            (() => {
              const walker = document.createTreeWalker(document.getElementById('shell'), NodeFilter.SHOW_TEXT);
              const found = [];
              while (walker.nextNode()) if (walker.currentNode.data.includes('\\u202e')) found.push(walker.currentNode.parentElement);
              return found;
            })()
            """
        for page in ["senders", "inbox", "inbox/\(device.id)"] {
            try bench.go(page)
            try bench.wait("the label on \(page)", until: "\(texts).length > 0")
            let loose = try bench.evaluate(
                "\(texts).filter((one) => !getComputedStyle(one).unicodeBidi.startsWith('isolate')).length")
            #expect(loose as? Int == 0, "\(page)")
        }
        let json = try bench.evaluate("document.querySelector('.inbox pre').textContent") as? String
        #expect(json?.contains("\\u202e") == true && json?.contains("\u{202e}") == false, "\(json ?? "")")
        try bench.evaluate(
            "import('/console/js/ctl.js').then((module) => { globalThis.line = module.commandLine; }); 1")
        try bench.wait("the module", until: "globalThis.line")
        let line = try bench.evaluate("line('senders add', { label: 'a\\u202e\\'b' })") as? String
        #expect(line == #"ccsctl senders add --label $'a\u202e\'b'"#)
        let shell = try Tool.run(
            URL(fileURLWithPath: "/bin/bash"), ["-c", #"printf %s $'a\u202e\'b'"#],
            environment: ["LC_ALL": "C.UTF-8"])
        #expect(shell.output == "a\u{202e}'b")
        #expect(try bench.complaints() == [])
    }

    @Test("an event that comes in two reads is whole, and so is one with a letter in two reads")
    func events() throws {
        let bench = try ConsoleBench()
        try bench.logIn()
        let script = #"""
            (async () => {
              const { follow } = await import('/console/js/api.js');
              const real = globalThis.fetch;
              const bytes = new TextEncoder().encode('event: step\ndata: {"n":"ä1"}\n\nevent: step\ndata: {"n":"ö2"}\n\nevent: result\ndata: {"end":3}\n\n');
              const wrong = [];
              for (let cut = 1; cut < bytes.length; cut += 1) {
                globalThis.fetch = async () => new Response(new ReadableStream({ start(stream) {
                  stream.enqueue(bytes.slice(0, cut)); stream.enqueue(bytes.slice(cut)); stream.close();
                } }));
                const seen = [];
                const end = await follow('devices trace', { device: '1' }, (name, content) => seen.push(content.n)).catch(String);
                if (seen.join() !== 'ä1,ö2' || end.end !== 3) wrong.push(cut);
              }
              globalThis.fetch = real;
              globalThis.wrong = wrong.join();
            })(); 1
            """#
        try bench.evaluate(script)
        try bench.wait("the reads", until: "globalThis.wrong !== undefined")
        #expect(try bench.evaluate("globalThis.wrong") as? String == "")
    }

    @Test(
        "the first page takes less than 60 kB and three answers after each other, and the other pages one script more"
    )
    func far() throws {
        let bench = try ConsoleBench()
        try bench.logIn()
        // Later than what the processor takes: so what began after an answer needed it.
        try bench.run("far", ["milliseconds": 1_000])
        try bench.run("open", ["url": bench.address])
        try bench.wait(
            "the overview",
            until:
                "document.querySelector('main .health .notice') && document.querySelector('main .facts') && "
                + "document.querySelectorAll('main live-chart').length > 8")
        let first = try #require(try bench.run("transfers") as? [String: Any])
        #expect((first["bytes"] as? Int ?? .max) < 60_000, "\(first)")
        #expect(first["chain"] as? Int == 3, "\(first)")
        try bench.run("far", ["milliseconds": 0])
        for page in ["senders", "topics", "senders"] { try bench.go(page) }
        let scripts = try #require(try bench.run("transfers") as? [String: Any])["rows"] as? [String]
        #expect(scripts?.count { $0.hasSuffix(".js") } == 1, "\(scripts ?? [])")
        #expect(try bench.complaints() == [])
    }

    @Test("the console comes in a few requests, with one script, and nothing is asked for again")
    func requests() throws {
        let bench = try ConsoleBench()
        try bench.logIn()
        let names = "performance.getEntriesByType('resource').map((one) => one.name)"
        let files = "\(names).filter((one) => one.includes('/console/'))"
        let loaded = try bench.evaluate("\(files).join()")
        let count = try bench.evaluate("\(files).filter((one) => /\\.(js|css)$/.test(one)).length") as? Int
        #expect(count == 2, "\(loaded ?? "")")
        #expect(try bench.evaluate("\(files).length <= 3") as? Bool == true)
        try bench.run("open", ["url": bench.address])
        try bench.wait("the overview", until: "document.querySelector('main h1')?.textContent === 'Overview'")
        let again =
            "performance.getEntriesByType('resource').filter((one) => /console-.*(js|css)$/.test(one.name) && one.transferSize > 0).length"
        #expect(try bench.evaluate(again) as? Int == 0)
        #expect(try bench.complaints() == [])
    }
}
