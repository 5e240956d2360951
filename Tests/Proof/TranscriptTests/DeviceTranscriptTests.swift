import Testing
import TranscriptNotation

@Suite struct DeviceTranscriptTests {
    @Test("every transcript of devices passes, whole and split", arguments: TranscriptSplit.usual)
    func transcripts(split: TranscriptSplit) throws {
        let transcripts = try Transcript.all(in: "device")
        #expect(transcripts.count >= 95)
        for transcript in transcripts {
            do {
                try play(transcript, split)
            } catch {
                Issue.record("\(error)")
            }
        }
    }

    @Test("canary: a transcript fails when a character of any expected line is wrong, or a line is missing")
    func canary() throws {
        let golden = try #require(try Transcript.all(in: "device").first { $0.name == "golden.txt" })
        try play(golden, .whole)
        for (at, line) in golden.lines.enumerated() where ["S:", ">>", "!!"].contains(line.mark) {
            var wrong = golden
            wrong.lines[at].text += "x"
            #expect(throws: TranscriptFailure.self, "line \(line.number)") {
                try play(wrong, .whole)
            }
            wrong.lines.remove(at: at)
            // Unexpected output must fail too; a check of the state may be left out.
            guard line.mark != "!!" else { continue }
            #expect(throws: TranscriptFailure.self, "without line \(line.number)") {
                try play(wrong, .whole)
            }
        }
    }

    @Test(
        "every row of the spec is proved by a transcript or elsewhere, and every transcript proves rows"
    )
    func rows() throws {
        let rows = try Transcript.rows(in: "device")
        let transcripts = try Transcript.all(in: "device")
        let proved = Set(transcripts.flatMap(\.proves))
        #expect(Set(rows.map(\.name)).count == rows.count, "duplicate row")
        #expect(proved.subtracting(rows.map(\.name)).isEmpty)
        for row in rows where row.elsewhere == nil { #expect(proved.contains(row.name), "\(row.name)") }
        for transcript in transcripts { #expect(!transcript.proves.isEmpty, "\(transcript.name)") }
        #expect(!proved.contains("1.1-tls"), "canary: no transcript has TLS")
    }

    @Test("the notation is parsed as it is printed")
    func notation() throws {
        let text = #"{a: 1, b: "x y", c: [true, "z"], d: {"k-1": "v"}, e: StreamAck}"#
        let (name, value) = try DeviceNotation.named("Name " + text)
        #expect(name == "Name")
        #expect(value.shown == text.replacing("\"k-1\"", with: "k-1"))
        #expect(throws: DeviceNotation.Unreadable.self) { try DeviceNotation.named("Name {a: }") }
    }

    private func play(_ transcript: Transcript, _ split: TranscriptSplit) throws {
        try TranscriptRunner.run(transcript, DeviceDialect(), split) { dialect, now in
            dialect.makeSession(now: now)
        }
    }
}
