import Basics
import Delivery
import Testing

@Suite struct RateTests {
    private func bench(partitions: Int = 1, _ set: (inout Rates) -> Void) -> Harness {
        var settings = DeliverySettings()
        set(&settings.rates)
        return Harness.withDevice(partitions: partitions, settings: settings)
    }

    /// Submits messages and returns the answers.
    private func answers(_ bench: Harness, _ requestIDs: ClosedRange<UInt32>, lifetime: Int = 3_600)
        -> [String]
    {
        for requestID in requestIDs { bench.submit(requestID, lifetime: lifetime) }
        bench.settle()
        return bench.take(appServer).words.sorted()
    }

    @Test("A device rate refuses the 241st message in a minute and accepts one more after 250 ms")
    func deviceMinute() {
        let bench = bench { $0.deviceShort = Rate(Limits.Message.deviceMessagesPerMinute, perSeconds: 60) }
        let first = answers(bench, 1...240)
        #expect(first.count == 240 && first.allSatisfy { $0.hasPrefix("ack") })
        #expect(
            answers(bench, 241...242) == ["nack 241 device_rate_exceeded", "nack 242 device_rate_exceeded"])
        #expect(bench.down.refused == 2)
        bench.advance(milliseconds: 250)
        #expect(answers(bench, 243...244) == ["ack 243", "nack 244 device_rate_exceeded"])
        #expect(bench.store.holds && bench.store.down.accepted == 241)
    }

    @Test("The hourly device rate limits messages that are spread over the hour")
    func deviceHour() {
        let bench = bench {
            $0.deviceShort = Rate(240, perSeconds: 60)
            $0.deviceLong = Rate(5_000, perSeconds: 3_600)
        }
        var taken = 0
        var requestID: UInt32 = 0
        for _ in 0..<120 {
            for _ in 0..<120 {
                requestID += 1
                bench.submit(requestID, lifetime: 0)
            }
            bench.settle()
            taken += bench.take(appServer).words.count { $0.hasPrefix("ack") }
            bench.advance(milliseconds: 30_000)
        }
        #expect(taken >= 9_900 && taken <= 10_000, "a burst of 5000 and what an hour brings back: \(taken)")
    }

    @Test("A rate counts messages without a lifetime, but not refused messages and dry runs")
    func whatCounts() {
        let bench = bench { $0.deviceShort = Rate(2, perSeconds: 60) }
        for requestID in 1...5 as ClosedRange<UInt32> {
            var dry = Harness.submission(requestID)
            dry.content.isDryRun = true
            bench.post(.submitted(dry))
            var foreign = Harness.submission(requestID + 100)
            foreign.entitlement = .account(Harness.otherSender)
            bench.post(.submitted(foreign))
        }
        bench.settle()
        #expect(bench.take(appServer).words.count { $0.hasPrefix("ack") } == 5)
        #expect(answers(bench, 11...12, lifetime: 0) == ["ack 11", "ack 12"])
        #expect(answers(bench, 13...13) == ["nack 13 device_rate_exceeded"])
        var dry = Harness.submission(14)
        dry.content.isDryRun = true
        bench.post(.submitted(dry))
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 14 device_rate_exceeded"], "a dry run is judged alike")
    }

    @Test("Each device has a rate of its own")
    func devicesApart() {
        let bench = bench { $0.deviceShort = Rate(1, perSeconds: 60) }
        let other = RegistrationName(device: DeviceID(1 << 60 | 6), number: RegistrationNumber(1))
        bench.store.records[other.device] = DeviceRecord(
            device: other.device, token: token, createdAt: 0, seenAt: 1_700_000_000_000, nextRegistration: 2)
        bench.store.registrations[other] = Registration(
            name: other, category: bytes("app"), subtype: [], senderText: bytes("100"),
            sender: Harness.sender, createdAt: 0)
        #expect(answers(bench, 1...2) == ["ack 1", "nack 2 device_rate_exceeded"])
        bench.post(.submitted(Harness.submission(3, to: other)))
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 3"])
    }

    @Test("A sender rate refuses messages over its limit and is shared by partitions")
    func sender() {
        let bench = bench { $0.sender = Rate(3, perSeconds: 60) }
        #expect(
            answers(bench, 1...5)
                == ["ack 1", "ack 2", "ack 3", "nack 4 sender_rate_exceeded", "nack 5 sender_rate_exceeded"]
        )
        bench.advance(milliseconds: 20_000)
        #expect(answers(bench, 6...7) == ["ack 6", "nack 7 sender_rate_exceeded"])
        let shared = self.bench(partitions: 3) {
            ($0.sender, $0.deviceShort) = (Rate(3, perSeconds: 60), Rate(1, perSeconds: 1))
        }
        #expect(answers(shared, 1...1) == ["ack 1"])
        shared.advance(milliseconds: 1_000)
        #expect(answers(shared, 2...2) == ["nack 2 sender_rate_exceeded"])
    }

    @Test(
        "Messages to one device are refused for its rate or the sender's full rate, never for a partition's share"
    )
    func devicesWorth() {
        let short = bench(partitions: 16) {
            ($0.sender, $0.deviceShort) = (Rate(32, perSeconds: 60), Rate(10, perSeconds: 60))
        }
        #expect(answers(short, 1...11).filter { $0.hasPrefix("nack") } == ["nack 11 device_rate_exceeded"])
        let long = bench(partitions: 16) {
            ($0.sender, $0.deviceLong) = (Rate(32, perSeconds: 60), Rate(10, perSeconds: 3_600))
        }
        #expect(answers(long, 1...11).filter { $0.hasPrefix("nack") } == ["nack 11 device_rate_exceeded"])
        let whole = bench(partitions: 16) {
            ($0.sender, $0.deviceShort) = (Rate(8, perSeconds: 60), Rate(10, perSeconds: 60))
        }
        #expect(answers(whole, 1...9).filter { $0.hasPrefix("nack") } == ["nack 9 sender_rate_exceeded"])
        let unlimited = bench(partitions: 16) { $0.sender = Rate(32, perSeconds: 60) }
        #expect(
            answers(unlimited, 1...33).filter { $0.hasPrefix("nack") } == ["nack 33 sender_rate_exceeded"])
    }

    @Test(
        "A share of a sender rate is an equal part, at least the device rate, and the full rate of a single partition"
    )
    func shares() {
        var rates = Rates()
        rates.deviceShort = Rate(240, perSeconds: 60)
        rates.deviceLong = Rate(5_000, perSeconds: 3_600)
        for (rate, count, share) in [
            (Rate(6_000, perSeconds: 60), 16, Rate(375, perSeconds: 60)),
            (Rate(6_000, perSeconds: 60), 1, Rate(6_000, perSeconds: 60)),
            (Rate(1_000, perSeconds: 60), 16, Rate(240, perSeconds: 60)),
            (Rate(100, perSeconds: 60), 1_024, Rate(100, perSeconds: 60)),
            (Rate(3_000, perSeconds: 1), 16, Rate(240, perSeconds: 1)), (Rate.unlimited, 16, .unlimited),
        ] {
            #expect(rates.share(rate, of: count) == share, "\(rate), \(count)")
        }
        rates.deviceShort = .unlimited
        #expect(rates.share(Rate(96, perSeconds: 60), of: 16) == Rate(96, perSeconds: 70))
        rates.deviceLong = .unlimited
        #expect(rates.share(Rate(100, perSeconds: 60), of: 16) == Rate(100, perSeconds: 60))
    }

    @Test("A topic message counts once towards its sender's rate when it reaches a device")
    func topic() throws {
        let bench = bench { $0.sender = Rate(3, perSeconds: 60) }
        let news = try #require(TopicName(bytes("news")))
        bench.store.subscriptions = [
            Subscription(name: Harness.target, sender: Harness.sender, topic: news, since: 0)
        ]
        let submission = Harness.submission(1)
        bench.post(.topicSubmitted(TopicSubmission(target: TopicTarget(news), submission: submission)))
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"])
        bench.collectTopics([Harness.target])
        #expect(bench.store.downPending == 1, "it has reached the device")
        #expect(answers(bench, 2...4) == ["ack 2", "ack 3", "nack 4 sender_rate_exceeded"])
    }

    @Test("A device over its upstream rate is refused with toomanymessages and accepted later")
    func deviceUpstream() {
        let bench = bench { $0.deviceUpstream = Rate(2, perSeconds: 60) }
        for requestID in 1...3 as ClosedRange<UInt32> {
            bench.post(.upstreamReceived(Harness.upstream(requestID)))
        }
        bench.settle()
        #expect(bench.take(phone).words.sorted() == ["refused 3 toomanymessages", "stored 1", "stored 2"])
        bench.advance(milliseconds: 30_000)
        bench.post(.upstreamReceived(Harness.upstream(4)))
        bench.settle()
        #expect(bench.take(phone).words == ["stored 4"])
        #expect(bench.up.refused == 1)
    }

    @Test("A sender over its upstream rate refuses messages of all devices", arguments: [1, 3])
    func senderUpstream(partitions: Int) {
        let bench = bench(partitions: partitions) { $0.senderUpstream = Rate(2, perSeconds: 60) }
        for requestID in 1...3 as ClosedRange<UInt32> {
            bench.post(.upstreamReceived(Harness.upstream(requestID)))
        }
        bench.settle()
        #expect(bench.take(phone).words.sorted() == ["refused 3 toomanymessages", "stored 1", "stored 2"])
        bench.advance(milliseconds: 30_000)
        for requestID in 4...5 as ClosedRange<UInt32> {
            bench.post(.upstreamReceived(Harness.upstream(requestID)))
        }
        bench.settle()
        #expect(bench.take(phone).words.sorted() == ["refused 5 toomanymessages", "stored 4"])
    }

    @Test("Canary: nothing is refused when there are no rates")
    func canary() {
        let bench = bench { _ in }
        #expect(answers(bench, 0...0) == ["ack 0"])
        #expect(answers(bench, 1...6_000, lifetime: 0).allSatisfy { $0.hasPrefix("ack") })
    }
}
