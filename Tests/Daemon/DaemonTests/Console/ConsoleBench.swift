import Foundation

/// A daemon with the operator API, and Debian's Chromium with its console.
final class ConsoleBench {
    let api: OperatorAPIBench
    let browser: Driver
    var daemon: RunningDaemon { api.daemon }
    var address: String { "https://localhost:\(api.port)/console/" }

    /// What is in the console of the browser although all is well: the question for the session before the login.
    private static let expectedComplaint = "the server responded with a status of 401"

    convenience init(flags: [String] = []) throws { try self.init(OperatorAPIBench(flags: flags)) }

    init(_ api: OperatorAPIBench) throws {
        self.api = api
        browser = try Driver(
            "console_browser.py",
            [api.daemon.directory.appendingPathComponent("browser").path, api.daemon.authority])
        try browser.expect(event: "started", seconds: 60)
    }

    /// Sends a command to the browser. Returns its value.
    @discardableResult
    func run(_ name: String, _ arguments: [String: Any] = [:]) throws -> Any? {
        try browser.command(arguments.merging(["do": name]) { first, _ in first })
        let answer = try browser.expect(event: name)
        if let error = answer["error"] as? String { throw HarnessFailure("\(arguments): \(error)") }
        return answer["value"]
    }

    /// Evaluates a script in the page, as soon as the page has the elements whose members the script uses.
    @discardableResult
    func evaluate(_ script: String) throws -> Any? {
        for selector in Self.needed(by: script) {
            try wait("the element \(selector)", until: "document.querySelector(\(Self.literal(selector)))")
        }
        return try run("eval", ["js": script])
    }

    /// The selectors of the elements without which a script fails.
    static func needed(by script: String) -> [String] {
        script.matches(of: /document\.querySelector\('([^']*)'\)\.[a-zA-Z]/).map { String($0.1) }
    }

    /// Waits until a script is true in the page; a script that fails is not true.
    func wait(_ what: String, until script: String) throws {
        let seconds = Int(Patience.seconds / 2)
        guard try run("until", ["js": "Boolean(\(script))", "seconds": seconds]) as? Bool == true else {
            let text = try run("eval", ["js": "document.body.innerText.slice(0, 2000)"])
            throw HarnessFailure("\(what): \(script) did not become true; the page: \(text ?? "")")
        }
    }

    /// Opens the console and logs in with a token that is typed.
    func logIn(as name: String = "alice") throws {
        try run("open", ["url": address])
        try wait("the login page", until: "document.activeElement?.name === 'token'")
        try run("type", ["text": api.tokens[name] ?? ""])
        try run("keys", ["keys": ["Enter"]])
        try wait("the overview", until: "document.querySelector('main h1')?.textContent === 'Overview'")
        _ = try complaints()
    }

    /// Goes to a page and waits until it has loaded.
    ///
    /// The page that is left, which has loaded, is still shown for a moment: its heading is marked.
    func go(_ path: String) throws {
        try evaluate(
            """
            (() => {
              const before = location.hash;
              location.hash = '#/' + \(Self.literal(path));
              if (location.hash !== before) document.querySelector('main h1')?.setAttribute('data-left', '');
            })()
            """)
        try wait(
            "the page \(path)",
            until:
                "document.querySelector('main h1:not([data-left])') && !document.querySelector('[aria-busy], .loading')"
        )
    }

    /// Waits until the page has a text.
    func waitForText(_ text: String) throws {
        try wait(text, until: "document.querySelector('main').innerText.includes(\(Self.literal(text)))")
    }

    /// Goes to the page of a device and waits for its trace.
    func goTracing(_ token: String) throws {
        try go("messages/\(token)")
        try wait(
            "the trace", until: "document.querySelector('device-trace').innerText.includes('Tracing device')")
    }

    /// Sets the value of a field by its name, and has the page notice it by an event.
    func set(_ name: String, _ value: String, _ event: String) throws {
        try evaluate(
            "(() => { const field = document.querySelector('[name=\(name)]'); field.value = \(Self.literal(value)); field.dispatchEvent(new Event('\(event)', { bubbles: true })); })()"
        )
    }

    /// Presses the button with this text.
    func press(_ text: String) throws {
        let button =
            "[...document.querySelectorAll('button')].find((one) => one.textContent === \(Self.literal(text)))"
        try wait("the button \(text)", until: "\(button)?.disabled === false")
        try evaluate("\(button).click()")
    }

    /// The text of the page.
    func text() throws -> String { try evaluate("document.body.innerText") as? String ?? "" }

    /// Returns and forgets what the browser complains about: errors of scripts, requests and the policy.
    func complaints() throws -> [String] {
        let all = try run("complaints") as? [String] ?? []
        return all.filter { !$0.contains(Self.expectedComplaint) }
    }

    /// Writes a picture of the page to the folder in `CCS_SHOTS`, if it is set.
    func picture(_ name: String) throws {
        guard let folder = ProcessInfo.processInfo.environment["CCS_SHOTS"] else { return }
        try run("shot", ["path": "\(folder)/\(name).png"])
    }

    /// A text as a literal of JavaScript.
    static func literal(_ text: String) -> String {
        let data = try? JSONSerialization.data(withJSONObject: text, options: .fragmentsAllowed)
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "''"
    }

    /// Whether the browser, its driver and axe-core are there.
    static var isPossible: Bool {
        guard TestPaths.hasPython, TestPaths.hasChromium else { return false }
        let library = TestPaths.root.appendingPathComponent(".venv/lib")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: library.path)) ?? []
        return versions.contains {
            FileManager.default.fileExists(
                atPath: library.appendingPathComponent("\($0)/site-packages/axe_core_python").path)
        }
    }
}
