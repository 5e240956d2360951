import Testing
import TranscriptNotation

private func run(_ transcript: Transcript, _ split: TranscriptSplit) throws {
    try TranscriptRunner.run(transcript, AppServerDialect(), split) { dialect, now in
        dialect.makeSession(now: now)
    }
}

@Suite struct AppServerTranscriptTests {
    @Test("every transcript of app servers passes, whole and split", arguments: TranscriptSplit.usual)
    func transcripts(split: TranscriptSplit) throws {
        let transcripts = try Transcript.all(in: "appserver")
        #expect(transcripts.count >= 150)
        for transcript in transcripts {
            do {
                try run(transcript, split)
            } catch {
                Issue.record("\(error)")
            }
        }
    }

    @Test("canary: a transcript fails when one byte of any expected line is wrong")
    func canary() throws {
        let golden = try #require(try Transcript.all(in: "appserver").first { $0.name == "00-golden.play" })
        try run(golden, .whole)
        for (at, line) in golden.lines.enumerated() where ["S:", ">>", "!!"].contains(line.mark) {
            var wrong = golden
            wrong.lines[at].text += "x"
            #expect(throws: TranscriptFailure.self, "line \(line.number)") {
                try run(wrong, .whole)
            }
            wrong.lines.remove(at: at)
            // Unexpected output must fail too; a check of the state may be left out.
            guard line.mark != "!!" else { continue }
            #expect(throws: TranscriptFailure.self, "without line \(line.number)") {
                try run(wrong, .whole)
            }
        }
    }

    @Test("canary: a transcript fails when a session does not receive its last byte")
    func cutCanary() throws {
        let golden = try #require(try Transcript.all(in: "appserver").first { $0.name == "00-golden.play" })
        // The last write is the peer's end of the stream after the server's, which is not read.
        let last = golden.lines.lastIndex { $0.mark == "C:" }
        for (at, line) in golden.lines.enumerated() where line.mark == "C:" && at != last {
            var wrong = golden
            wrong.lines[at].text.removeLast()
            #expect(throws: TranscriptFailure.self, "line \(line.number)") {
                try run(wrong, .whole)
            }
        }
    }
}
