import Foundation
import Testing

/// The output that pages show is what the programs print, but for numbers, names and times.
@Suite("Output in the documentation", .serialized)
struct ShownOutputTests {
    /// The blocks of output: those of README from the conversation of ccs-device, others from the session of their page.
    static let shown = [
        ShownBlocksTests.Place(file: "README.md", firstLine: "ccsd 0.1.0 is ready."),
        ShownBlocksTests.Place(
            file: "README.md",
            firstLine:
                "Downstream: the ACK confirms the message on disk, the receipt its arrival on the device."),
        ShownBlocksTests.Place(
            file: "README.md",
            firstLine:
                "DIRECTION   ACCEPTED  DELIVERED  FORWARDED  REPLACED  EXPIRED  DISCARDED  REMOVED  PENDING"),
        ShownBlocksTests.Place(
            file: "docs/first-app.md",
            firstLine: "connected as 100000000001@gcm.googleapis.com/44029888"),
        ShownBlocksTests.Place(
            file: "docs/first-app.md",
            firstLine:
                "downstream         3          3          0         0        0          0        0        0"),
    ]

    /// Returns a line with a sign in place of each word that differs from run to run: with digits, paths, or cut.
    static func masked(_ line: some StringProtocol) -> String {
        line.split(whereSeparator: \.isWhitespace).map { word in
            let isVarying =
                word.contains { $0.isNumber || $0 == "/" || $0 == "…" } || word.hasPrefix("AIza")
                || word.contains(":APA9")
            return isVarying ? "*" : String(word)
        }.joined(separator: " ")
    }

    /// Returns the shown lines that the programs have not printed. The order of lines of programs that run at once differs.
    static func missing(_ shown: String, in printed: String) -> [String] {
        var rest = printed.split(separator: "\n").map(masked)
        return shown.split(separator: "\n").filter { line in
            guard let at = rest.firstIndex(of: masked(line)) else { return true }
            rest.remove(at: at)
            return false
        }.map(String.init)
    }

    @Test("README shows what the daemon, the conversation and the audit print")
    func readme() throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let key = daemon.directory.appendingPathComponent("data/first-sender.key").path
        let conversation = try Tool.run(
            "ccs-device",
            [
                "converse", "--json=false", "--sender", sender.id, "--key-file", key, "--server", "127.0.0.1",
                "--app-server-port", String(daemon.port("app_server")), "--device-port",
                String(daemon.port("device")),
                "--https-port", String(daemon.port("https")), "--ca", daemon.authority,
            ])
        #expect(conversation.code == 0, "\(conversation)")
        let audit = try Tool.run("ccsctl", ["--socket", daemon.controlSocket, "audit"])
        let printed = daemon.greeting.joined(separator: "\n") + "\n" + conversation.output + audit.output
        let blocks = ShownBlocksTests.all.filter { $0.file == "README.md" && Self.shown.contains($0.place) }
        #expect(blocks.count == 3)
        for block in blocks {
            #expect(Self.missing(block.text, in: printed) == [], "\(block.testDescription)")
        }
    }

    @Test("canary: a line that is not printed, or less often than shown, is found")
    func canary() {
        #expect(Self.missing("a 17 b\n", in: "a 18 b\n") == [])
        #expect(Self.missing("a 17 c\n", in: "a 18 b\n") == ["a 17 c"])
        #expect(Self.missing("one\ntwo\ntwo\n", in: "two\none\n") == ["two"])
    }
}
