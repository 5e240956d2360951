import Foundation
import Testing

/// Functions of the console's scripts, each called in a real browser.
@Suite(
    "Scripts of the console", .serialized,
    .enabled(if: ConsoleBench.isPossible, "run Scripts/bootstrap --tests --browser first"))
struct ConsoleScriptTests {
    /// A browser with the login page: without a login, no other request is made meanwhile.
    private func openedBench() throws -> ConsoleBench {
        let bench = try ConsoleBench()
        try bench.run("open", ["url": bench.address])
        try bench.wait("the login page", until: "document.activeElement?.name === 'token'")
        return bench
    }

    /// Returns what the body of an asynchronous function returns, or the text of what it throws.
    private func value(_ body: String, in bench: ConsoleBench) throws -> Any? {
        try bench.evaluate(
            """
            window.found = undefined;
            (async () => { \(body) })().then(
              (value) => { window.found = { value }; }, (error) => { window.found = { value: String(error) }; });
            0
            """
        )
        try bench.wait("the end of the script", until: "window.found")
        return try bench.evaluate("window.found.value")
    }

    @Test(
        "numbers, targets, addresses, commands, requests, series, searches, words and roles are as expected")
    func checks() throws {
        let text = try String(
            contentsOf: TestPaths.clients.appendingPathComponent("console_functions.js"), encoding: .utf8)
        let odd = try value("const base = '/console';\n\(text)", in: openedBench())
        #expect(odd as? [String] == [], "\(odd ?? "")")
    }

    @Test("durations have their unit and value, and events are read whatever the cuts between two reads")
    func functions() throws {
        let bench = try openedBench()
        let durations = try value(
            """
            const { duration } = await import('/console/js/format.js');
            return [0, 999, 1000, 1500, 999499, 1e6, 2.5e6, 90e6, null].map(duration);
            """, in: bench)
        #expect(
            durations as? [String] == [
                "0 µs", "999 µs", "1 ms", "1.5 ms", "999 ms", "1 s", "2.5 s", "1 min 30 s", "–",
            ], "\(durations ?? "")")
        let odd = try value(
            """
            const { followFigures } = await import('/console/js/api.js');
            const text = 'event: figures\\ndata: {"a":1}\\n\\ndata: {"b":"ä"}\\n\\nevent: result\\ndata: {}\\n\\n';
            const bytes = new TextEncoder().encode(text);
            const real = window.fetch;
            const odd = [];
            try {
              for (let cut = 0; cut <= bytes.length; cut += 1) {
                window.fetch = async () => new Response(new ReadableStream({
                  start(stream) {
                    stream.enqueue(bytes.slice(0, cut));
                    stream.enqueue(bytes.slice(cut));
                    stream.close();
                  },
                }));
                const seen = [];
                await followFigures((content) => seen.push(content));
                if (JSON.stringify(seen) !== '[{"a":1},{"b":"ä"}]') odd.push(`${cut}: ${JSON.stringify(seen)}`);
              }
            } finally { window.fetch = real; }
            return odd;
            """, in: bench)
        #expect(odd as? [String] == [], "\(odd ?? "")")
    }
}
