import Basics
import Delivery
import Testing

@testable import Webhooks

@Suite("the gateway of webhooks")
struct GatewayTests {
    @Test("the messages of one device are sent one after the other, and those of others beside them")
    func order() {
        let desk = Desk()
        let first = desk.deliver(
            Samples.message(1), Samples.message(2), Samples.message(3, device: 2), Samples.receipt(4),
            Samples.receipt(5))
        #expect(first.sent == ["1", "3", "4", "5"])
        let second = desk.answer(first.starts[0], 204)
        #expect(second.ended == ["1 acknowledged"] && second.sent == ["2"])
        #expect(desk.answer(second.starts[0], 299).ended == ["2 acknowledged"])
        #expect(desk.status?.acknowledged == 2 && desk.status?.inFlight == 3)
    }

    private final class Lease: DecisionLease, @unchecked Sendable {
        var until = Instant(nanoseconds: 0)
        func wait() {}
    }

    @Test("without the lease of its partition a message waits, and others do not")
    func lease() {
        let desk = Desk()
        let lease = Lease()
        let first = desk.feed(
            .orders([
                .deliver(Samples.session(), Samples.message(1), lease: lease),
                .deliver(Samples.session(), Samples.message(2)),
                .deliver(Samples.session(2), Samples.message(3, device: 2), lease: lease),
                .deliver(Samples.session(), Samples.message(4, device: 3)),
            ]))
        #expect(first.sent == ["4"])
        #expect(desk.pass(10 * Limits.Webhook.leaseMilliseconds).starts.isEmpty)
        _ = desk.feed(.orders([.forget(Samples.session(2))]))
        lease.until = desk.now.monotonic.advanced(milliseconds: Limits.Webhook.leaseMilliseconds + 1)
        #expect(desk.pass(Limits.Webhook.leaseMilliseconds).sent == ["1"], "the other partition is lost")
    }

    @Test("anything but 2xx is tried again with growing waits, before the next message of the device")
    func retries() {
        let desk = Desk()
        var sent = desk.deliver(Samples.message(1), Samples.message(2)).starts
        var waits: [Int64] = []
        for status in [500, 302, 404, 199] {
            #expect(desk.answer(sent[0], status).starts.isEmpty)
            var waited: Int64 = 0
            sent = []
            while sent.isEmpty, waited < 60_000 {
                waited += 50
                sent = desk.pass(50).starts
            }
            waits.append(waited)
            #expect(sent.map(\.body) == [Samples.writer.body(of: Samples.message(1))])
        }
        for (at, wait) in waits.enumerated() {
            let step = Limits.Webhook.retryMilliseconds << Int64(at)
            #expect((step / 2...step + 50).contains(wait), "\(waits)")
        }
        #expect(desk.answer(sent[0], 200).sent == ["2"])
    }

    @Test("an endpoint that fails again and again is paused, then tried with one request")
    func pause() {
        let desk = Desk()
        var effects = WebhookEffects()
        for number in 1...8 as ClosedRange<UInt64> {
            effects.starts += desk.deliver(Samples.message(number, device: number)).starts
        }
        var paused: [WebhookNotice] = []
        for start in effects.starts { paused += desk.answer(start, 503).notices }
        guard case .paused(Samples.sender, let milliseconds, "HTTP status 503")? = paused.first else {
            return #expect(Bool(false), "\(paused)")
        }
        #expect(paused.count == 1 && desk.gateway.counts.paused == 1)
        #expect(desk.pass(milliseconds - 1).starts.isEmpty)
        let probe = desk.pass(1).starts
        #expect(probe.count == 1, "one request shows whether it works")
        guard case .paused(_, let longer, _)? = desk.answer(probe[0], 500).notices.first else {
            return #expect(Bool(false))
        }
        #expect(longer > milliseconds)
        let second = desk.pass(longer).starts
        let works = desk.answer(second[0], 200)
        #expect(works.notices == [.resumed(Samples.sender)])
        #expect(works.starts.count == 7, "then it gets all that waits")
    }

    @Test("after a pause, a message that has never been tried shows whether the endpoint works")
    func probe() {
        let desk = Desk()
        var start = desk.deliver(Samples.message(1)).starts
        for _ in 1...Limits.Webhook.failuresBeforePause {
            #expect(desk.answer(start.first, 500).starts.isEmpty)
            start = []
            while start.isEmpty, desk.status?.pausedMilliseconds == nil { start = desk.pass(50).starts }
        }
        #expect(desk.deliver(Samples.message(2, device: 2)).starts.isEmpty, "it is paused")
        // Long enough for the next attempt of the first message as well.
        #expect(desk.pass(Limits.Webhook.longestRetryMilliseconds).sent == ["2"])
    }

    @Test("Retry-After pauses the endpoint, within a limit", arguments: [(30, 30), (86_400, 3_600), (-5, 0)])
    func retryAfter(seconds: Int, paused: Int) {
        let desk = Desk()
        let start = desk.deliver(Samples.message(1), Samples.message(2, device: 2)).starts
        let effects = desk.answer(start[0], 429, retryAfter: seconds)
        guard paused > 0 else { return #expect(effects.notices.isEmpty) }
        #expect(
            effects.notices
                == [
                    .paused(
                        Samples.sender, milliseconds: max(Int64(paused) * 1_000, 0), reason: "HTTP status 429"
                    )
                ])
        #expect(desk.answer(start[1], 500).notices.isEmpty)
        #expect(desk.pass(Int64(paused) * 1_000 - 1).starts.isEmpty)
        #expect(desk.pass(1).starts.count == 1)
    }

    @Test("410 stops the endpoint until it is resumed, and is reported until it is recorded")
    func gone() {
        let desk = Desk()
        let start = desk.deliver(Samples.message(1)).starts
        let effects = desk.answer(start[0], 410)
        #expect(effects.gone == [Samples.sender] && effects.notices == [.gone(Samples.sender)])
        #expect(effects.ended.isEmpty && desk.gateway.counts.gone == 1)
        #expect(desk.pass(Limits.Webhook.goneAgainMilliseconds - 1).gone.isEmpty)
        #expect(desk.pass(1).gone == [Samples.sender])
        let recall = desk.feed(
            .endpoints([Samples.endpoint(isActive: false)]), .orders([.recall(Samples.session())]))
        #expect(recall.ended == ["1 returned"])
        _ = desk.feed(.endpoints([Samples.endpoint()]))
        #expect(desk.deliver(Samples.message(1), to: Samples.session(2)).sent == ["1"])
    }

    @Test("a retry by the operator ends a pause at once")
    func retry() {
        let desk = Desk()
        let start = desk.deliver(Samples.message(1)).starts
        _ = desk.answer(start[0], 503, retryAfter: 600)
        #expect(desk.pass(2_000).starts.isEmpty)
        #expect(desk.feed(.retry(Samples.sender)).sent == ["1"])
    }

    @Test("a recalled session returns what waits at once, and what is in flight when it fails")
    func recall() {
        let desk = Desk()
        let start = desk.deliver(Samples.message(1), Samples.message(2), Samples.message(3, device: 2)).starts
        #expect(desk.feed(.orders([.recall(Samples.session())])).ended == ["2 returned"])
        #expect(desk.answer(start[0], 500).ended == ["1 returned"])
        #expect(desk.answer(start[1], 200).ended == ["3 acknowledged"])
    }

    @Test("a withdrawn message has no outcome, but the next one of its device waits for its request")
    func withdraw() {
        let desk = Desk()
        let start = desk.deliver(Samples.message(1), Samples.message(2), Samples.message(3)).starts
        let orders: [WebhookOrder] = [1, 2].map {
            .withdraw(Samples.session(), Samples.sender, SequenceNumber($0))
        }
        let withdrawn = desk.feed(.orders(orders))
        #expect(withdrawn.starts.isEmpty && withdrawn.outcomes.isEmpty)
        let next = desk.answer(start[0], 500)
        #expect(next.ended.isEmpty && next.sent == ["3"])
    }

    @Test("an order concerns the messages of its own session only")
    func otherSession() {
        let other = SenderID(101)
        let desk = Desk(endpoints: [Samples.endpoint(), Samples.endpoint(other)])
        // Senders of two partitions can have messages with the same number.
        let first = desk.deliver(Samples.message(1), Samples.message(2)).starts
        let second = desk.deliver(
            Samples.message(1, sender: other), Samples.message(2, sender: other), to: Samples.session(2)
        ).starts
        let withdrawn = desk.feed(
            .orders([1, 2].map { .withdraw(Samples.session(2), other, SequenceNumber($0)) }))
        #expect(withdrawn.outcomes.isEmpty)
        #expect(desk.answer(second[0], 200).outcomes.isEmpty)
        let next = desk.answer(first[0], 200)
        #expect(next.ended == ["1 acknowledged"] && next.sent == ["2"], "its own are not withdrawn")

        // A sender has two sessions for a moment, when its webhook is paused and resumed.
        let third = desk.deliver(Samples.message(3), Samples.message(4), to: Samples.session(3))
        #expect(third.starts.isEmpty, "the device has another message in flight")
        #expect(desk.feed(.orders([.recall(Samples.session())])).ended.isEmpty)
        #expect(
            desk.feed(.orders([.withdraw(Samples.session(), Samples.sender, SequenceNumber(3))])).ended
                .isEmpty)
        let forgotten = desk.feed(.orders([.forget(Samples.session())]))
        #expect(forgotten.aborts == [next.starts[0].number] && forgotten.sent == ["3"])
        #expect(desk.answer(forgotten.starts.first, 200).ended == ["3 acknowledged"])
    }

    @Test("a recalled message without a lifetime has expired, since it is never sent later")
    func recallPrompt() {
        let desk = Desk()
        _ = desk.deliver(Samples.message(1), Samples.message(2, lifetime: 0), Samples.message(3))
        #expect(desk.feed(.orders([.recall(Samples.session())])).ended == ["2 expired", "3 returned"])
    }

    @Test("an endpoint that has answered 410 is reported once, and stays so whatever else it answers")
    func goneOnce() {
        let desk = Desk()
        let starts = desk.deliver(
            Samples.message(1), Samples.message(2, device: 2), Samples.message(3, device: 3),
            Samples.message(4, device: 4)
        ).starts
        #expect(desk.answer(starts[0], 410).gone == [Samples.sender])
        let second = desk.answer(starts[1], 410)
        #expect(second.gone.isEmpty && second.notices.isEmpty)
        let works = desk.answer(starts[2], 200)
        #expect(works.ended == ["3 acknowledged"] && works.notices.isEmpty && works.starts.isEmpty)
        #expect(desk.gateway.counts.gone == 1)
        #expect(desk.answer(starts[3], 500, retryAfter: 1).notices.isEmpty)
        #expect(desk.pass(Limits.Webhook.goneAgainMilliseconds).gone == [Samples.sender])
        #expect(desk.pass(Limits.Webhook.goneAgainMilliseconds - 1).gone.isEmpty)
        #expect(desk.pass(1).gone == [Samples.sender])
    }

    @Test("a forgotten session has its requests ended, and a probe among them decides nothing")
    func forget() {
        let desk = Desk()
        let start = desk.deliver(Samples.message(1), Samples.message(2)).starts
        let effects = desk.feed(.orders([.forget(Samples.session())]))
        #expect(effects.aborts == [start[0].number] && effects.outcomes.isEmpty && desk.gateway.isIdle)
        #expect(desk.answer(start[0], 200).outcomes.isEmpty)
        let again = desk.deliver(Samples.message(1), to: Samples.session(2)).starts
        guard case .paused(_, let pause, _)? = desk.answer(again[0], 503, retryAfter: 60).notices.first else {
            return #expect(Bool(false))
        }
        #expect(desk.pass(pause).sent == ["1"])
        _ = desk.feed(.orders([.forget(Samples.session(2))]))
        #expect(desk.deliver(Samples.message(5), to: Samples.session(3)).sent == ["5"], "the next probe")
    }

    @Test("a message without a lifetime has one attempt, and does not wait for long")
    func nowOrNever() {
        let desk = Desk()
        let start = desk.deliver(Samples.message(1), Samples.message(2, lifetime: 0)).starts
        #expect(desk.pass(Limits.Message.promptMilliseconds - 1).ended.isEmpty)
        #expect(desk.pass(1).ended == ["2 expired"])
        _ = desk.answer(start[0], 200)
        let prompt = desk.deliver(Samples.message(3, lifetime: 0)).starts
        #expect(desk.answer(prompt[0], 500).ended == ["3 expired"])
        #expect(desk.nextTick == nil)
    }

    @Test("requests are bounded for each endpoint and for all, and senders take turns")
    func bounds() {
        let senders = (1...20 as ClosedRange<UInt64>).map { SenderID($0) }
        let desk = Desk(endpoints: senders.map { Samples.endpoint($0) })
        var sequence: UInt64 = 0
        var starts: [WebhookRequest] = []
        for sender in senders {
            for device in 1...20 as ClosedRange<UInt64> {
                sequence += 1
                let message = Samples.message(sequence, device: device, sender: sender)
                starts += desk.deliver(message, to: Samples.session(UInt32(sender.number))).starts
            }
        }
        #expect(starts.count == Limits.Webhook.requests)
        #expect(starts.count { $0.sender == senders[0] } == Limits.Webhook.requestsPerSender)
        let left = senders.filter { sender in !starts.contains { $0.sender == sender } }
        #expect(left.count == 4)
        var next: [SenderID] = []
        for start in starts.prefix(5) { next += desk.answer(start, 200).starts.map(\.sender) }
        #expect(Set(next).isSuperset(of: left), "who had to wait takes its turn: \(next)")
    }

    @Test("nothing starts for an endpoint that is unknown or paused by an operator, or during a shutdown")
    func inactive() {
        let desk = Desk(endpoints: [])
        #expect(desk.deliver(Samples.message(1)).starts.isEmpty)
        #expect(desk.feed(.endpoints([Samples.endpoint(isActive: false)])).starts.isEmpty)
        _ = desk.feed(.endpoints([]))
        #expect(desk.status?.waiting == 1, "the core has not recalled it yet")
        #expect(desk.feed(.endpoints([Samples.endpoint()])).sent == ["1"])
        _ = desk.feed(.drain)
        #expect(desk.deliver(Samples.message(2, device: 2)).starts.isEmpty)
    }

    @Test("failures are shown in words, and those in a row counted")
    func status() {
        let desk = Desk()
        let start = desk.deliver(Samples.message(1)).starts
        let detail = String(repeating: "x", count: 500)
        _ = desk.feed(.answered(request: start[0].number, .failed(.addressRefused, detail: detail)))
        let status = desk.status
        #expect(status?.failed == 1 && status?.failuresInRow == 1 && status?.lastFailureAt == Samples.epoch)
        #expect(status?.lastFailure?.hasPrefix("address refused: xxx") == true)
        #expect(status?.lastFailure?.count == Limits.Webhook.reasonBytes)
        #expect(desk.gateway.status(of: SenderID(9), now: desk.now.monotonic) == nil)
    }
}

extension GatewayTests {
    @Test("endpoints are counted by what they do, and those that an operator has paused not at all")
    func counts() {
        func counts(_ desk: Desk) -> [Int] {
            [desk.gateway.counts.open, desk.gateway.counts.paused, desk.gateway.counts.gone]
        }
        #expect(counts(Desk(endpoints: [])) == [0, 0, 0])
        let senders = [SenderID(1), SenderID(2), SenderID(3)]
        let desk = Desk(endpoints: senders.map { Samples.endpoint($0) })
        #expect(counts(desk) == [3, 0, 0])
        let start = desk.deliver(Samples.message(1, sender: senders[0]), to: Samples.session(1)).starts
        _ = desk.answer(start[0], 410)
        #expect(counts(desk) == [2, 0, 1])
        _ = desk.feed(
            .endpoints([Samples.endpoint(senders[1], isActive: false), Samples.endpoint(senders[2])]))
        #expect(counts(desk) == [1, 0, 0])
    }

    @Test("an endpoint that was removed is forgotten with the last message that waited for it")
    func forgotten() {
        let desk = Desk(endpoints: [])
        _ = desk.deliver(Samples.message(1, lifetime: 0))
        #expect(desk.gateway.endpoints.count == 1)
        #expect(desk.pass(Limits.Message.promptMilliseconds).ended == ["1 expired"])
        #expect(desk.gateway.endpoints.isEmpty)
    }
}

extension Desk {
    var nextTick: Instant? { gateway.nextTick(now.monotonic) }
}
