import Basics
import Delivery
import Testing

@Suite struct DownstreamTests {
    @Test("A stored message is acknowledged and delivered when it is on disk, and not before")
    func storedThenAcknowledged() {
        let bench = Harness.withDevice()
        bench.login()
        bench.settle()
        #expect(bench.take(phone).words == ["device login accepted"])
        bench.submit(1)
        bench.runTurns()
        #expect(bench.commands.isEmpty, "no answer is sent before the store has answered")
        bench.apply(bench.partitions[0])
        bench.runTurns()
        #expect(bench.commands.isEmpty, "it is on disk, but the commit is not reported")
        bench.reportOutcome(bench.partitions[0])
        bench.runTurns()
        #expect(bench.commands.map(\.1.word) == ["ack 1", "deliver m1"])
        #expect(bench.commands.last?.1.delivery?.isStored == true)
        #expect(bench.durableBatches == 1)
    }

    @Test(
        "The answer has the persistent id of the message, except for a dry run",
        arguments: [0, 3_600])
    func answerNamesMessage(lifetime: Int) {
        let bench = Harness.withDevice()
        bench.login()
        bench.settle()
        _ = bench.take(phone)
        bench.post(.submitted(Harness.submission(1, lifetime: lifetime)))
        bench.settle()
        guard case .submission(1, .accepted(let id?, nil))? = bench.take(appServer).first else {
            Issue.record("no acknowledgement with an id")
            return
        }
        #expect(bench.take(phone).compactMap(\.delivery?.message.persistentID) == [id])
        var dry = Harness.submission(2, lifetime: lifetime)
        dry.content.isDryRun = true
        bench.post(.submitted(dry))
        bench.settle()
        guard case .submission(2, .accepted(nil, nil))? = bench.take(appServer).first else {
            Issue.record("a dry run must be acknowledged without an id")
            return
        }
    }

    @Test("A failed batch refuses its messages, and the next message is checked against the store")
    func failedBatch() {
        let bench = Harness.withDevice()
        bench.login()
        bench.settle()
        bench.submit(1)
        bench.runTurns()
        bench.submit(2)
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 1 unavailable", "nack 2 unavailable"])
        bench.submit(3)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 3"])
        bench.post(.deviceWritable(phone, device))
        bench.settle()
        #expect(bench.take(phone).words.filter { $0.hasPrefix("deliver") } == ["deliver m3"])
        #expect(bench.store.holds)
        #expect(bench.store.downPending == 1)
    }

    @Test(
        "A message sent before a failed batch is not sent again, and its acknowledgement counts"
    )
    func failedBatchKeepsSent() {
        let bench = Harness.withDevice()
        bench.login()
        bench.submit(1)
        bench.settle()
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        bench.submit(2)
        bench.runTurns()
        bench.apply(bench.partitions[0], failing: true)
        bench.reportOutcome(bench.partitions[0])
        bench.settle()
        bench.submit(3)
        bench.settle()
        #expect(bench.take(phone).words == ["deliver m3"])
        bench.post(.deviceAcknowledged(phone, device, sequences))
        bench.settle()
        #expect(bench.store.down.delivered == 1 && bench.store.downPending == 1)
    }

    @Test("An acknowledged message leaves the store as delivered")
    func delivered() {
        let bench = Harness.withDevice()
        bench.login()
        bench.submit(1)
        bench.settle()
        let sequences = bench.take(phone).compactMap(\.delivery?.message.sequence)
        #expect(sequences.count == 1)
        bench.post(.deviceAcknowledged(connection(77), device, sequences))
        bench.settle()
        #expect(bench.store.downPending == 1, "another connection's acknowledgement does not count")
        bench.post(.deviceAcknowledged(phone, device, sequences))
        bench.settle()
        #expect(bench.store.down.delivered == 1)
        #expect(bench.store.holds && bench.store.downPending == 0)
        #expect(bench.down.delivered == 1)
    }

    @Test("A submission to an unknown, foreign or misaddressed target is refused")
    func refusals() {
        let bench = Harness.withDevice()
        let unknown = RegistrationName(device: device, number: RegistrationNumber(9))
        bench.post(.submitted(Harness.submission(1, to: unknown)))
        var foreign = Harness.submission(2)
        foreign.entitlement = .account(Harness.otherSender)
        bench.post(.submitted(foreign))
        var misaddressed = Harness.submission(3)
        misaddressed.content.restrictedPackage = bytes("other.app")
        bench.post(.submitted(misaddressed))
        var dry = Harness.submission(4)
        dry.content.isDryRun = true
        bench.post(.submitted(dry))
        let nobody = RegistrationName(device: DeviceID(1 << 60), number: RegistrationNumber(1))
        bench.post(.submitted(Harness.submission(5, to: nobody)))
        bench.settle()
        #expect(
            bench.take(appServer).words == [
                "nack 1 not_registered", "nack 2 sender_mismatch", "nack 3 package_mismatch", "ack 4",
                "nack 5 not_registered",
            ])
        #expect(bench.store.down.accepted == 0)
    }

    @Test("A message with lifetime 0 is delivered at once or dropped, and never stored")
    func nowOrNever() {
        let bench = Harness.withDevice()
        bench.submit(1, lifetime: 0)
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 1"])
        bench.login()
        bench.settle()
        #expect(bench.take(phone).words == ["device login accepted"])
        bench.submit(2, lifetime: 0)
        bench.runTurns()
        #expect(bench.take(appServer).words == ["ack 2"])
        #expect(bench.take(phone).first?.delivery?.isStored == false)
        bench.post(.deviceCongested(phone, device))
        bench.submit(3, lifetime: 0)
        bench.settle()
        #expect(bench.take(phone).isEmpty)
        #expect(bench.down.expired == 2)
        #expect(bench.store.down == MilestoneCounts())
    }

    @Test("Canary: the random worlds detect an outcome that is reported before the store has it")
    func canary() {
        let world = RandomWorld(seed: 3, traps: false)
        world.failures = false
        let isFound = {
            world.problems.contains {
                $0.hasPrefix("acknowledged before stored") || $0.hasPrefix("upstream confirmed before stored")
            }
        }
        var told: Set<[UInt64]> = []
        for _ in 0..<400 where !isFound() {
            world.step()
            for (at, partition) in world.bench.partitions.enumerated() {
                for batch in partition.batches where told.insert([UInt64(at), batch.batchNumber]).inserted {
                    partition.events.append(.committed(CommitOutcome(batchNumber: batch.batchNumber)))
                }
            }
        }
        #expect(isFound())
    }
}
