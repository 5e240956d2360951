import Basics
import Cluster
import ClusterLog
import ClusterLogSupport
import ClusterSetup
import NATSClient
import Operator
import Testing
import Wire

@testable import Server

/// What operators see of a cluster.
@Suite("Operating a cluster", .serialized) struct ClusterOperatingTests {
    private static let refusals: [HandoverRefusal] = [
        .notOwner(nil), .notOwner(NodeNumber(2)), .underway(to: NodeNumber(3)), .unfit(NodeNumber(1)),
        .unfit(NodeNumber(4)), .behind(NodeNumber(2), records: 900), .noTarget,
    ]

    @Test("each refusal of a handover has a text and advice of its own")
    func refusals() {
        let problems = Self.refusals.map { $0.problem(7, NodeNumber(2), NodeNumber(1)) }
        #expect(Set(problems.map(\.text)).count == Self.refusals.count)
        #expect(problems.allSatisfy { !$0.hint.isEmpty })
        #expect(problems[1].text == "node 2 owns partition 7, not this node (1)")
        #expect(problems[3].text == "node 1 owns partition 7 already", "the node itself is no target")
        #expect(problems[5].text.contains("900 records behind") && problems[5].text.contains("at most 512"))
    }

    @Test("each alarm has its cause, a problem and an action, and the log has both in one line")
    func alarms() {
        let node = NodeNumber(2)
        let alarms: [ClusterAlarm] = [
            .duplicateNode(node), .foreignCluster(ClusterID(7)), .clock(node), .noFrameVersion,
            .partitions(node), .tooManyNodes, .removedNode(node), .silentNode(node), .unowned([3]),
        ]
        #expect(Set(alarms.map(\.report.cause)).count == alarms.count)
        for alarm in alarms {
            #expect(!alarm.report.problem.isEmpty && !alarm.report.action.isEmpty)
            #expect(alarm.words == "\(alarm.report.problem): \(alarm.report.action)")
        }
    }

    private func partitionAlarms(
        _ found: [(Range<Int>, PartitionFinding)]
    ) -> [ShowCluster.Answer.Alarm] {
        var all: [PartitionAlarms.Found] = []
        for (partitions, finding) in found {
            for partition in partitions { all.append((partition: partition, finding: finding)) }
        }
        return PartitionAlarms.of(all, copy: "a copy is on its way", names: .standard)
    }

    @Test("what is wrong with many partitions is one alarm for each kind, which names the way out")
    func partitions() {
        let position = LogPosition(5)
        let halts: [(UnreadableRecord, ClusterAlarmCause, String)] = [
            (.rival, .recordsLost, "a log that has lost records"),
            (.damaged, .halted, "if all have halted: docs/cluster.md, a partition that has halted"),
            (.newer(version: 9), .halted, "install the version of the other nodes"),
        ]
        for (record, cause, action) in halts {
            let alarms = partitionAlarms([
                (0..<1, .halted(.unreadable(record, at: position))),
                (1..<16, .halted(.unreadable(record, at: LogPosition(9)))),
            ])
            #expect(alarms.count == 1 && alarms[0].cause == cause && alarms[0].action.contains(action))
            #expect(alarms[0].problem.hasPrefix("partitions 0-15 have halted"), "\(alarms[0].problem)")
            #expect(alarms[0].problem.contains("in partition 0, the record at position 5"))
        }
        let newer = LogHalt.unreadable(.newer(version: 9), at: position)
        #expect(newer.words.contains("a frame of version 9, and this node reads 1 to 1"))
        let mixed = partitionAlarms([
            (3..<4, .halted(.inconsistent(at: position))), (0..<9, .purged(before: position)),
            (0..<9, .lost(before: position)), (1..<3, .missing), (4..<5, .behind(20_000)),
            (5..<6, .behind(30_000)), (6..<7, .shortened(after: position)),
        ])
        #expect(
            mixed.map(\.cause) == [.halted, .recordsLost, .recordsLost, .recordsLost, .outdated, .behind])
        #expect(mixed[0].problem.hasPrefix("partition 3 has halted on this node: the record at position 5"))
        #expect(mixed[1].problem.contains("CCS_6 ends at position 5"))
        #expect(mixed[2].action.hasPrefix("a copy is on its way"))
        #expect(mixed[5].problem.contains("up to 30000 records behind the log of partitions 4-5"))
        #expect(partitionAlarms([]).isEmpty)
    }

    @Test(
        "servers that the group of all servers of NATS counts and that are gone are an alarm, after two looks"
    )
    func group() {
        func alarm(_ looks: [[LogServerGroup?]], besides named: Set<String> = []) -> ShowCluster.Answer.Alarm?
        {
            let watches = looks.map { groups in
                groups.reduce(into: LogGroupWatch()) { $0.look($1) }
            }
            return LogGroupWatch.alarm(watches, besides: named)
        }
        let gone = LogServerGroup(leader: "n1", size: 4, silent: ["n3"])
        let whole = LogServerGroup(leader: "n1", size: 3)
        let leaderless = LogServerGroup(leader: nil, size: 4, silent: ["n3"])
        #expect(alarm([]) == nil && alarm([[nil, nil], [whole, whole]]) == nil)
        #expect(alarm([[gone], [whole]]) == nil && alarm([[gone, whole, gone]]) == nil)
        let raised = alarm([[whole, whole], [gone, gone]])
        #expect(
            raised?.cause == .logDegraded
                && raised?.problem.contains("counts 4, and n3 sends nothing") == true)
        #expect(raised?.action.contains("nats server cluster peer-remove n3") == true)
        #expect(alarm([[gone, gone]], besides: ["n3"]) == nil, "the alarm of the streams names it")
        #expect(alarm([[leaderless, leaderless]], besides: ["n3"])?.problem.contains("no leader") == true)
        #expect(alarm([[leaderless, leaderless], [whole, whole]])?.problem.contains("n3") == true)
    }

    @Test("a daemon without a cluster refuses by name, and does not answer for one")
    func noCluster() throws {
        let server = try InProcessServer(in: ServerFolder())
        let commands: [(String, JSONValue)] = [
            ("cluster status", [:]), ("cluster handover", ["partition": 1]), ("cluster remove", ["node": 2]),
            ("cluster admit", ["node": 2]),
        ]
        for (name, arguments) in commands {
            let answer = try server.ask(name, arguments)
            #expect(answer["error"]?.text?.contains("no node of a cluster") == true, "\(answer)")
        }
        let status = try server.ask("status", [:])
        #expect(status["result"]?["cluster"] == JSONValue.null)
        #expect(server.daemon.isReady && server.daemon.readiness == "ready\n")
    }
}

/// When frames were appended, and whether there is a connection to the log.
@Suite("Figures of a cluster") struct ClusterFigureTests {
    private func name(_ claim: UInt64, _ number: UInt64) -> FrameName {
        FrameName(claim: Claim(claim), number: number)
    }

    private func at(_ microseconds: Int64) -> Instant { Instant(nanoseconds: microseconds * 1_000) }

    @Test(
        "the time of a frame runs from its first append; a repetition is one, and another claim begins anew")
    func appends() {
        var times = AppendTimes()
        let repeats = [(1, 1, 0), (1, 2, 100), (1, 2, 900)].map { times.note(name($0, $1), at($2)) }
        #expect(repeats == [false, false, true])
        let spans = [2, 2, 1].map { times.confirm($0, at(1_000)) }
        #expect(spans == [900_000, nil, nil], "a frame is confirmed once, and those before with it")
        let isRepeated = times.note(name(2, 1), at(2_000))
        let unknown = times.confirm(7, at(2_000))
        #expect(!isRepeated && unknown == nil)
    }

    @Test("a node is ready from its first connection on, and for a moment after it was lost")
    func contact() {
        let contact = ClusterContact(partitions: 2)
        #expect(contact.problem(at(0))?.contains("yet") == true)
        contact.connected()
        #expect(contact.problem(at(0)) == nil)
        let lost = at(5_000_000)
        contact.disconnected(lost)
        #expect(contact.problem(lost.advanced(milliseconds: Limits.ClusterHost.readyMilliseconds - 1)) == nil)
        let problem = contact.problem(lost.advanced(milliseconds: Limits.ClusterHost.readyMilliseconds))
        #expect(problem?.hasSuffix("for 2 s") == true)
        contact.connected()
        #expect(contact.problem(lost.advanced(seconds: 60)) == nil)
    }

    @Test("a node without a proof that the log works is cut off after two seconds, whatever its connection")
    func unconfirmed() {
        let contact = ClusterContact(partitions: 2)
        let since = Instant(nanoseconds: 5_000_000_000)
        let ready = since.advanced(milliseconds: Limits.ClusterHost.readyMilliseconds)
        contact.connected()
        contact.note(unprovedSince: since)
        #expect(contact.problem(ready.advanced(milliseconds: -1)) == nil)
        #expect(contact.problem(ready) == "the log of the cluster has confirmed nothing for 2 s")
        // Another server is tried.
        contact.disconnected(ready)
        contact.connected()
        #expect(contact.problem(ready) != nil)
        contact.note(unprovedSince: nil)
        #expect(contact.problem(ready) == nil)
    }

    @Test("a node has the senders as they are while it has all that is confirmed of their partitions")
    func knowledge() {
        let contact = ClusterContact(partitions: 2)
        let senders = (1...20).map { SenderID(UInt64($0)) }
        func current(from start: Instant, to now: Instant) -> Int {
            let count = senders.count { contact.isCurrent($0, from: start, to: now) }
            #expect(contact.areSendersCurrent(from: start, to: now) == (count == senders.count))
            return count
        }
        #expect(current(from: at(0), to: at(0)) == 0)
        contact.note(known: [at(1_000), .distantPast], at(0))
        #expect((1..<20).contains(current(from: at(0), to: at(0))))
        contact.note(known: [at(1_000), at(2_000)], at(10))
        #expect((1..<20).contains(current(from: at(9), to: at(10))), "what was read before may be older")
        #expect(current(from: at(10), to: at(10)) == 20 && current(from: at(10), to: at(999)) == 20)
        #expect((1..<20).contains(current(from: at(10), to: at(1_000))), "the time is over")
    }

    @Test(
        "streams with one problem are one alarm, which names the commands; a missing copy is no other alarm's cause"
    )
    func streams() {
        let names = LogNames.standard
        let alarms = StreamAlarms.of(
            [
                .replicasSilent(["n3"]): [0, 1, 2, 5], .missing: [4], .retention("interest"): [3],
            ], names: names)
        #expect(alarms.map(\.cause) == [.logDegraded, .streamUnfit, .streamUnfit])
        #expect(alarms[0].problem.contains("partitions 0-2, 5") && alarms[0].problem.contains("n3"))
        #expect(alarms[0].action.contains("nats server cluster peer-remove n3"))
        #expect(alarms[1].problem.contains("CCS_3") && alarms[1].action.contains("nats tool"))
        #expect(alarms[2].problem.contains("it does not exist"))
        #expect(StreamAlarms.of([:], names: names) == [])
    }

    @Test("what a node takes and loses in a moment is one line for all partitions")
    func news() {
        var news = OwnershipNews()
        #expect(!news.isDue(at(0)))
        for partition in [3, 0, 2, 1] { news.add(taken: partition, at(1_000)) }
        news.add(lost: 7, at(200_000))
        #expect(
            PartitionList.named(news.taken) == "partitions 0-3"
                && PartitionList.named(news.lost) == "partition 7")
        #expect(news.contains(7) && !news.contains(4), "what is taken again is a line of its own")
        #expect(
            !news.isDue(at(200_000)) && news.isDue(at(1_000 + Limits.ClusterHost.newsMilliseconds * 1_000)))
        #expect(PartitionList.text([9, 1, 2, 4, 5, 6, 4]) == "1-2, 4-6, 9")
    }

    @Test("partitions of which a node can apply no more are one line for each reason")
    func troubles() {
        var news = OwnershipNews()
        for partition in 0..<16 { news.add(.outdated, of: partition, LogValue(partition + 7), at(1_000)) }
        news.add(.halted, of: 3, .text("why"), at(2_000))
        #expect(news.isDue(at(1_000 + Limits.ClusterHost.newsMilliseconds * 1_000)))
        #expect(news.troubles[.outdated]?.partitions == Array(0..<16) && news.troubles.count == 2)
        #expect(news.troubles[.halted]?.partitions == [3])
    }

    @Test("a stream is fit whose problems go by themselves, and unfit if it was changed")
    func fitStreams() {
        #expect(StreamState([]) == .fit && StreamState([.replicasSilent(["n3"])]) == .fit)
        #expect(StreamState([.replicasSilent(["n3"]), .replicas(1, expected: 3)]) == .unfit)
    }

    @Test("what the thread of the cluster counts arrives in the metrics")
    func tally() {
        let shard = MetricShard()
        let tally = ClusterTally(shard: shard)
        tally.appended(100, isRepeated: false)
        tally.appended(100, isRepeated: true)
        tally.confirmed(after: 400_000)
        tally.confirmed(after: nil)
        tally.applied()
        tally.forwarded(.command, .received)
        tally.unreached(3, .linkLost)
        tally.set(.clusterPartitions, to: [PartitionRole.owning: 5])
        #expect(shard.value(.clusterFrames, 0) == 1 && shard.value(.clusterFrames, 1) == 1)
        #expect(shard.value(.clusterFrameBytes, 1) == 100)
        #expect(shard.count(of: .clusterConfirmTimes) == 1)
        #expect(shard.value(.clusterApplied, 0) == 2 && shard.value(.clusterApplied, 1) == 1)
        #expect(shard.value(.clusterForwarded, 1, 1) == 1 && shard.value(.clusterForwarded, 0, 1) == 0)
        #expect(shard.value(.clusterUnreached, Metric.UnreachedReason.linkLost.position) == 3)
        #expect(shard.value(.clusterPartitions, PartitionRole.owning.position) == 5)
        tally.set(.clusterPartitions, to: [PartitionRole: Int]())
        #expect(shard.value(.clusterPartitions, PartitionRole.owning.position) == 0)
    }
}
