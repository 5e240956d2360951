import Testing
import TranscriptNotation

@Suite struct HTTPTranscriptTests {
    private func play(_ transcript: Transcript, _ split: TranscriptSplit) throws {
        try TranscriptRunner.run(transcript, HTTPDialect(), split) { dialect, now in
            dialect.makeSession(now: now)
        }
    }

    @Test("every transcript of HTTP passes, whole and split", arguments: TranscriptSplit.usual)
    func transcripts(split: TranscriptSplit) throws {
        let transcripts = try Transcript.all(in: "http")
        #expect(transcripts.count >= 45)
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
        let golden = try #require(try Transcript.all(in: "http").first { $0.name == "golden.txt" })
        try play(golden, .whole)
        for (at, line) in golden.lines.enumerated() where ["S:", ">>", "!!"].contains(line.mark) {
            var wrong = golden
            wrong.lines[at].text += "x"
            #expect(throws: TranscriptFailure.self, "line \(line.number)") { try play(wrong, .whole) }
            wrong.lines.remove(at: at)
            // Unexpected output must fail too; a check of the state may be left out.
            guard line.mark != "!!" else { continue }
            #expect(throws: TranscriptFailure.self, "without line \(line.number)") {
                try play(wrong, .whole)
            }
        }
    }
}
