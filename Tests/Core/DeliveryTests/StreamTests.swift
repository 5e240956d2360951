import Basics
import Delivery
import Testing

/// Streams of app servers that outlive their connection (XEP-0198).
@Suite struct StreamTests {
    private func remains(_ id: String) -> ResumableStream {
        ResumableStream(
            id: id, jid: "100@x/y", handled: 3, sent: 2, confirmed: 1,
            unconfirmed: [.init(number: 2, bytes: [1])])
    }

    private func manage(_ bench: Harness, _ connection: ConnectionID, _ id: String) {
        bench.post(.appServerLogin(connection, Harness.sender, key: Harness.key))
        bench.post(.appServerBound(connection, Harness.sender))
        bench.post(.appServerStreamManaged(connection, Harness.sender, id: id))
    }

    private func lose(_ bench: Harness, _ connection: ConnectionID, _ id: String) {
        bench.post(.appServerStreamDetached(connection, Harness.sender, remains(id)))
        bench.post(.appServerClosed(connection, Harness.sender))
    }

    private func want(_ bench: Harness, _ number: UInt32, _ id: String, of sender: SenderID = Harness.sender)
        -> [SessionCommand]
    {
        bench.post(.appServerLogin(connection(number), sender, key: Harness.key))
        bench.post(.appServerStreamRequested(connection(number), sender, id: id))
        bench.settle()
        return bench.take(connection(number)).filter { $0.word != "login accepted" }
    }

    @Test("A detached stream is resumed once, by a session of the same sender")
    func resumed() {
        let bench = Harness.withDevice()
        manage(bench, connection(1), "s")
        lose(bench, connection(1), "s")
        bench.settle()
        #expect(want(bench, 2, "s", of: Harness.otherSender).map(\.word) == ["stream not resumed"])
        #expect(want(bench, 3, "t").map(\.word) == ["stream not resumed"])
        let commands = want(bench, 4, "s")
        guard case .appServer(.streamResumed(let stream))? = commands.first else {
            Issue.record("\(commands.map(\.word))")
            return
        }
        #expect(stream == remains("s") && commands.count == 1)
        #expect(want(bench, 5, "s").map(\.word) == ["stream not resumed"])
    }

    @Test("A stream is not resumed when it was closed properly or its time is over")
    func gone() {
        let bench = Harness.withDevice()
        manage(bench, connection(1), "ended")
        bench.post(.appServerClosed(connection(1), Harness.sender))
        manage(bench, connection(2), "lost")
        lose(bench, connection(2), "lost")
        bench.settle()
        #expect(want(bench, 3, "ended").map(\.word) == ["stream not resumed"])
        bench.now.monotonic = bench.now.monotonic.advanced(seconds: Limits.AppServer.resumptionSeconds)
        bench.post(.tick)
        bench.settle()
        #expect(want(bench, 4, "lost").map(\.word) == ["stream not resumed"])
    }

    @Test("A connection that still seems alive is closed, and its stream is resumed after that")
    func takenOver() {
        let bench = Harness.withDevice()
        manage(bench, connection(1), "s")
        bench.settle()
        _ = bench.take(connection(1))
        #expect(want(bench, 2, "s").isEmpty)
        #expect(bench.take(connection(1)).words == ["close stream_resumed"])
        lose(bench, connection(1), "s")
        bench.settle()
        #expect(bench.take(connection(2)).words == ["stream resumed s"])
        // A connection that ends without a detached stream is waited for in vain.
        bench.post(.appServerBound(connection(2), Harness.sender))
        bench.post(.appServerStreamManaged(connection(2), Harness.sender, id: "s"))
        #expect(want(bench, 3, "s").isEmpty)
        bench.post(.appServerClosed(connection(2), Harness.sender))
        bench.settle()
        #expect(bench.take(connection(3)).words == ["stream not resumed"])
    }

    @Test(
        "Of two connections that ask for the same living stream, the first is answered when the second asks")
    func displaced() {
        let bench = Harness.withDevice()
        manage(bench, connection(1), "s")
        bench.settle()
        #expect(want(bench, 2, "s").isEmpty)
        #expect(want(bench, 3, "s").isEmpty)
        #expect(bench.take(connection(2)).words.filter { $0 != "login accepted" } == ["stream not resumed"])
        lose(bench, connection(1), "s")
        bench.settle()
        #expect(bench.take(connection(3)).words == ["stream resumed s"])
        #expect(bench.take(connection(2)).isEmpty, "it is answered once")
    }

    @Test("A connection that closes while it waits for a stream does not get it, and the next one does")
    func waiterLeaves() {
        let bench = Harness.withDevice()
        manage(bench, connection(1), "s")
        bench.settle()
        #expect(want(bench, 2, "s").isEmpty)
        bench.post(.appServerClosed(connection(2), Harness.sender))
        bench.settle()
        lose(bench, connection(1), "s")
        bench.settle()
        #expect(!bench.take(connection(2)).words.contains("stream resumed s"))
        #expect(want(bench, 3, "s").map(\.word) == ["stream resumed s"])
    }

    @Test("The detached streams of a sender are bounded, and the oldest is discarded first")
    func bounded() {
        let bench = Harness.withDevice()
        let limit = UInt32(Limits.AppServer.resumableStreamsPerSender)
        for number in 1...limit + 1 {
            manage(bench, connection(number), "s\(number)")
            lose(bench, connection(number), "s\(number)")
        }
        bench.settle()
        #expect(want(bench, 900, "s1").map(\.word) == ["stream not resumed"])
        #expect(want(bench, 901, "s2").map(\.word) == ["stream resumed s2"])
        #expect(want(bench, 902, "s\(limit + 1)").map(\.word) == ["stream resumed s\(limit + 1)"])
    }

    @Test("Canary: upstream messages of a lost connection are sent again although its stream is resumed")
    func upstream() {
        let bench = Harness.withDevice()
        bench.bindAppServer()
        bench.post(.appServerStreamManaged(appServer, Harness.sender, id: "s"))
        bench.post(.upstreamReceived(Harness.upstream(1)))
        bench.settle()
        #expect(bench.take(appServer).words.count == 1)
        lose(bench, appServer, "s")
        bench.settle()
        #expect(want(bench, 7, "s").map(\.word) == ["stream resumed s"])
        bench.post(.appServerBound(connection(7), Harness.sender))
        bench.settle()
        #expect(bench.take(connection(7)).compactMap(\.upstream).count == 1)
    }
}
