import Basics
import Operator
import Testing
import Wire

@testable import ccsctl

/// The texts of the commands for a cluster.
@Suite("Reports of a cluster") struct ClusterReportTests {
    private func status(_ log: JSONValue, alarms: JSONValue = []) throws -> String {
        let answer: JSONValue = [
            "cluster": "00112233aabbccdd", "node": 1, "name": "node-1", "frame_version": 1,
            "draining": false, "log": log,
            "members": [
                [
                    "node": 1, "name": "node-1", "status": "this", "address": "10.0.0.1:5240",
                    "software": "0.9.0", "frame_version": 1, "draining": false, "owned": 1, "linked": .null,
                    "round_trip_microseconds": .null, "clock_milliseconds": .null,
                    "silent_milliseconds": .null,
                ],
                [
                    "node": 2, "name": "n\u{1B}[2J", "status": "suspected", "address": "10.0.0.2:5240",
                    "software": "0.9.0", "frame_version": 1, "draining": true, "owned": 0, "linked": true,
                    "round_trip_microseconds": 350, "clock_milliseconds": 12, "silent_milliseconds": 1_400,
                ],
                [
                    "node": 3, "name": "node-3", "status": "unseen", "address": "10.0.0.3:5240",
                    "draining": false, "owned": 0, "linked": false,
                ],
            ],
            "partitions": [
                [
                    "partition": 0, "owner": 1, "epoch": 3, "role": "owning", "applied": 700,
                    "durable": 650, "behind": 0, "unconfirmed": 2, "voids": 1,
                ],
                [
                    "partition": 1, "owner": .null, "epoch": 1, "role": "following", "applied": 70,
                    "durable": 65, "behind": 4, "unconfirmed": 0, "voids": 0,
                ],
            ],
            "alarms": alarms,
        ]
        return ShowCluster.text(of: try ShowCluster.Answer(json: answer))
    }

    private static let log: JSONValue = [
        "server": "n1", "version": "2.15.1", "disconnected_seconds": .null, "replicas": 3, "syncs": true,
        "problems": [],
    ]

    @Test(
        "the status has the log, the nodes and the partitions, and a node's name cannot change the terminal")
    func whole() throws {
        #expect(
            try status(Self.log) == """
                cluster 00112233aabbccdd, as node 1 (node-1) sees it
                log     connected to n1 (NATS 2.15.1), 3 replicas, each record is synced
                frames  version 1

                NODE  NAME    STATUS               OWNS  LINK        CLOCK   SEEN         SOFTWARE  ADDRESS
                   1  node-1  this                    1  -           -       -            0.9.0     10.0.0.1:5240
                   2  n?[2J   suspected, draining     0  up, 350 us  +12 ms  1400 ms ago  0.9.0     10.0.0.2:5240
                   3  node-3  unseen                  0  down        -       -            -         10.0.0.3:5240

                PARTITION  OWNER  EPOCH  ROLE       APPLIED  DURABLE  BEHIND  UNCONFIRMED  VOID
                        0  1          3  owning         700      650       0            2     1
                        1  -          1  following       70       65       4            0     0

                """)
    }

    @Test("a lost connection, a problem of a stream and an alarm come first, with what to do")
    func troubles() throws {
        let text = try status(
            [
                "server": .null, "version": .null, "disconnected_seconds": 75, "replicas": 1, "syncs": .null,
                "problems": [
                    ["stream": "CCS_0", "partition": 0, "problem": "storage is memory: expected file"]
                ],
            ],
            alarms: [["cause": "clock", "problem": "the clocks differ", "action": "set the wrong one"]])
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[1] == "log     NOT CONNECTED for 1 min 15 s")
        #expect(lines[3] == "stream  CCS_0: storage is memory: expected file")
        #expect(lines[5] == "ALARM clock: the clocks differ")
        #expect(lines[6] == "      what to do: set the wrong one")
    }

    @Test("a handover and a removal report what has changed, and where to go on")
    func changes() throws {
        let handover: JSONValue = ["partition": 3, "from": 1, "owner": 2, "milliseconds": 140]
        #expect(
            HandOverPartition.text(of: try HandOverPartition.Answer(json: handover))
                == "Node 2 owns partition 3 now, after 140 ms.\n")
        let removal: JSONValue = ["node": 3, "name": "node-3"]
        #expect(RemoveNode.text(of: try RemoveNode.Answer(json: removal)).contains("node-3) is removed"))
        #expect(AdmitNode.text(of: try AdmitNode.Answer(json: removal)).contains("node-3) is admitted again"))
    }

    @Test("the status of a daemon names its cluster, and shouts about a lost log and about alarms")
    func daemon() {
        let part = ShowStatus.Answer.Cluster(
            cluster: "00112233aabbccdd", node: NodeNumber(2), name: "node-2", owned: 5, partitions: 16,
            isConnected: true, alarms: 0)
        #expect(
            StatusReport.cluster(part)
                == "cluster      node 2 (node-2) of 00112233aabbccdd, owns 5 of 16 partitions\n")
        var cut = part
        (cut.isConnected, cut.alarms) = (false, 2)
        let text = StatusReport.cluster(cut)
        #expect(text.contains("NO CONNECTION TO ITS LOG") && text.contains("ALARMS: 2"))
        #expect(StatusReport.cluster(nil).isEmpty)
    }
}
