import Foundation
import Testing
import TranscriptNotation

/// The transcripts of app servers, over TLS against the real daemon (Fixtures/transcripts/README.md).
@Suite("Plays", .serialized) struct PlayTests {
    /// Minimum number of plays that must run here; the others need control over the core, which only SessionsTests have.
    private static let least = 200

    @Test("a play passes over TLS when it needs no more than a real device and store")
    func plays() throws {
        var playsByFlags: [[String]: [Transcript]] = [:]
        for play in try Transcript.all(in: "appserver") {
            let plan = PlayPlan(play)
            if plan.obstacle == nil { playsByFlags[plan.flags, default: []].append(play) }
        }
        #expect(playsByFlags.values.reduce(0) { $0 + $1.count } >= Self.least)
        for (flags, plays) in playsByFlags.sorted(by: { $0.key.count < $1.key.count }) {
            let daemon = try RunningDaemon(flags: flags)
            for play in plays {
                do {
                    try PlayRun.run(play, on: daemon)
                } catch {
                    Issue.record("\(error)")
                }
            }
            #expect(try daemon.ctl("audit")["holds"] as? Bool == true)
        }
    }

    @Test("canary: a play fails when a byte of an expected line is wrong or a line is missing")
    func canary() throws {
        let daemon = try RunningDaemon()
        let play = try #require(
            try Transcript.all(in: "appserver").first { $0.name == "00-whole-life.play" })
        try PlayRun.run(play, on: daemon)
        let expected = play.lines.indices.filter { play.lines[$0].mark == "S:" }
        for at in [expected[0], expected[expected.count / 2], expected[expected.count - 1]] {
            var wrong = play
            wrong.lines[at].text += "x"
            #expect(throws: TranscriptFailure.self) { try PlayRun.run(wrong, on: daemon) }
            wrong.lines.remove(at: at)
            #expect(throws: (any Error).self) { try PlayRun.run(wrong, on: daemon) }
        }
    }

    @Test("canary: a play is skipped when it needs control over the core")
    func obstacles() throws {
        func obstacle(_ text: String) throws -> String? {
            PlayPlan(try Transcript(name: "x", text: text)).obstacle
        }
        #expect(try obstacle("C: x\nS: y\n!! open") == nil)
        #expect(try obstacle("<< drain") != nil)
        #expect(try obstacle(">> submitted #1 id=1 to=1 {}\nC: x") != nil)
        #expect(try obstacle(">> submitted #1 id=1 to=1 {}") != nil)
        #expect(try obstacle("@ 60") != nil)
    }
}
