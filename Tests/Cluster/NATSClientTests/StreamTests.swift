import Basics
import ClusterLog
import Testing
import Wire

@testable import NATSClient

@Suite("the configuration of a stream") struct StreamTests {
    /// The configuration that nats-server reports for a stream as it must be.
    private let good: [(String, String)] = [
        ("name", "\"CCS_5\""), ("subjects", "[\"ccs.5\"]"), ("retention", "\"limits\""),
        ("max_consumers", "-1"), ("max_msgs", "-1"), ("max_bytes", "-1"), ("max_age", "0"),
        ("max_msgs_per_subject", "-1"), ("max_msg_size", "1048576"), ("discard", "\"new\""),
        ("storage", "\"file\""), ("num_replicas", "3"), ("duplicate_window", "100000000"),
        ("allow_direct", "true"), ("mirror_direct", "false"), ("sealed", "false"), ("deny_delete", "true"),
        ("deny_purge", "false"), ("allow_rollup_hdrs", "false"), ("allow_msg_ttl", "false"),
    ]

    private func answer(_ change: (String, String)? = nil, cluster: String = "") -> String {
        var members = good.map { $0.0 == change?.0 ? change ?? $0 : $0 }
        if let change, !good.contains(where: { $0.0 == change.0 }) { members.append(change) }
        let config = members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
        return "{\"config\":{\(config)},\"state\":{\"messages\":3,\"bytes\":99,\"first_seq\":5,"
            + "\"last_seq\":7}\(cluster)}"
    }

    private func info(_ text: String) throws -> StreamInfo {
        try #require(StreamInfo(try JSONValue(parsing: Array(text.utf8).raw)))
    }

    private let settings = StreamSettings()

    @Test("the stream that the client creates has no problem")
    func created() throws {
        #expect(try info(answer()).problems(settings, subject: "ccs.5") == [])
        let request = try JSONValue(
            parsing: settings.request(stream: "CCS_5", subject: "ccs.5").raw)
        for (key, value) in good {
            guard let sent = request[key] else { continue }
            #expect(sent.compact == value, "\(key)")
        }
        #expect(request["num_replicas"]?.integer == 3 && request["allow_direct"]?.boolean == true)
    }

    @Test("each deviation is a problem with its name")
    func problems() throws {
        let expected: [(String, String, StreamProblem)] = [
            ("subjects", "[\"ccs.5\",\"x\"]", .subjects(["ccs.5", "x"], expected: "ccs.5")),
            ("subjects", "[\"ccs.*\"]", .subjects(["ccs.*"], expected: "ccs.5")),
            ("num_replicas", "1", .replicas(1, expected: 3)), ("storage", "\"memory\"", .storage("memory")),
            ("retention", "\"workqueue\"", .retention("workqueue")), ("discard", "\"old\"", .discard("old")),
            ("max_msgs", "5", .limit("max_msgs", 5)), ("max_age", "1", .limit("max_age", 1)),
            ("max_msgs_per_subject", "1", .limit("max_msgs_per_subject", 1)),
            ("max_bytes", "9", .maximumBytes(9, expected: -1)),
            ("max_msg_size", "1048575", .messageSize(1_048_575, expected: 1_048_576)),
            ("duplicate_window", "120000000000", .duplicateWindow(nanoseconds: 120_000_000_000)),
            ("allow_direct", "false", .flag("allow_direct", is: false)),
            ("deny_delete", "false", .flag("deny_delete", is: false)),
            ("deny_purge", "true", .flag("deny_purge", is: true)),
            ("allow_rollup_hdrs", "true", .flag("allow_rollup_hdrs", is: true)),
            ("sealed", "true", .flag("sealed", is: true)), ("no_ack", "true", .flag("no_ack", is: true)),
            ("allow_msg_ttl", "true", .flag("allow_msg_ttl", is: true)),
            ("allow_msg_counter", "true", .flag("allow_msg_counter", is: true)),
            ("persist_mode", "\"async\"", .persistence("async")),
            ("mirror", "{\"name\":\"x\"}", .copied("mirror")), ("sources", "[]", .copied("sources")),
            ("subject_transform", "{\"src\":\"a\"}", .copied("subject_transform")),
            ("republish", "{\"src\":\"a\"}", .copied("republish")),
        ]
        for (key, value, problem) in expected {
            #expect(
                try info(answer((key, value))).problems(settings, subject: "ccs.5") == [problem], "\(key)")
            #expect(problem.description.contains(": expected ") || key == "x", "\(problem)")
        }
        for (key, value) in [
            ("max_msg_size", "-1"), ("max_msg_size", "8388608"), ("compression", "\"s2\""),
            ("persist_mode", "\"default\""), ("mirror", "null"),
        ] {
            #expect(try info(answer((key, value))).problems(settings, subject: "ccs.5") == [], "\(key)")
        }
        let limited = StreamSettings(replicas: 3, maximumBytes: 9)
        #expect(try info(answer(("max_bytes", "9"))).problems(limited, subject: "ccs.5") == [])
    }

    @Test("the state, the leader and replicas that are behind are read")
    func states() throws {
        let cluster =
            ",\"cluster\":{\"name\":\"c\",\"leader\":\"n1\",\"replicas\":[{\"name\":\"n2\",\"current\":true,"
            + "\"active\":1},{\"name\":\"n3\",\"current\":false,\"offline\":true,\"lag\":4}]}"
        let whole = try info(answer(cluster: cluster))
        #expect(whole.first == LogPosition(5) && whole.last == LogPosition(7))
        #expect(whole.records == 3 && whole.bytes == 99 && whole.leader == "n1")
        #expect(whole.replicas.map(\.lag) == [0, 4] && whole.replicas.map(\.isOffline) == [false, true])
        for text in [
            "{}", "{\"config\":{}}", "{\"config\":{},\"state\":{\"first_seq\":1}}",
            "{\"config\":{},\"state\":{\"first_seq\":-1,\"last_seq\":1}}",
        ] {
            #expect(StreamInfo(try JSONValue(parsing: Array(text.utf8).raw)) == nil, "\(text)")
        }
    }

    /// A stream with a leader `n1` and these other replicas.
    private func info(leader: String, _ replicas: String...) throws -> StreamInfo {
        try info(
            answer(
                cluster:
                    ",\"cluster\":{\"leader\":\"\(leader)\",\"replicas\":[\(replicas.joined(separator: ","))]}"
            ))
    }

    private func replica(
        _ name: String, current: Bool = true, offline: Bool = false, milliseconds: Int, lag: Int = 0
    ) -> String {
        "{\"name\":\"\(name)\",\"current\":\(current),\"offline\":\(offline),\"active\":\(milliseconds * 1_000_000),\"lag\":\(lag)}"
    }

    @Test("a stream reports when a majority of its replicas was last together")
    func majority() throws {
        let near = replica("n2", milliseconds: 400)
        #expect(try info(leader: "n1", near, replica("n3", milliseconds: 900)).majorityAge == 400)
        #expect(
            try info(leader: "n1", near, replica("n3", current: false, milliseconds: 60_000)).majorityAge
                == 400)
        // A leader that is cut off: NATS calls its replicas current for ten seconds.
        let far = [replica("n2", milliseconds: 8_000), replica("n3", milliseconds: 8_200)]
        #expect(try info(leader: "n1", far[0], far[1]).majorityAge == 8_000)
        let gone = replica("n2", current: false, milliseconds: 12_000)
        #expect(
            try info(leader: "n1", gone, replica("n3", offline: true, milliseconds: 1)).majorityAge == nil)
        // A replica without a leader answers too, and names itself as one that is current.
        #expect(
            try info(
                leader: "", replica("n1", current: false, milliseconds: 0), replica("n3", milliseconds: 0)
            )
            .majorityAge == nil)
        #expect(try info(answer(("num_replicas", "1"))).majorityAge == 0)
    }

    @Test(
        "a replica that is silent or missing in two looks in a row, or far behind in three, is a problem until it is well"
    )
    func replicas() throws {
        let well = replica("n2", milliseconds: 400)
        func problems(_ looks: [StreamInfo]) -> [[StreamProblem]] {
            var watch = ReplicaWatch()
            return looks.map { watch.look($0) }
        }
        let whole = try info(leader: "n1", well, replica("n3", milliseconds: 900))
        for silent in [
            replica("n3", current: false, milliseconds: 45_000, lag: 5),
            replica("n3", current: false, milliseconds: 0),
            replica("n3", offline: true, milliseconds: 10),
        ] {
            let down = try info(leader: "n1", well, silent)
            #expect(problems([down, whole, down]) == [[], [], []], "a restart")
            #expect(
                problems([down, down, down, whole])
                    == [[], [.replicasSilent(["n3"])], [.replicasSilent(["n3"])], []], "\(silent)")
        }
        let slow = try info(leader: "n1", well, replica("n3", current: false, milliseconds: 100, lag: 1_001))
        #expect(problems([slow, slow, slow]) == [[], [], [.replicasBehind(["n3"])]])
        let busy = try info(leader: "n1", well, replica("n3", current: false, milliseconds: 100, lag: 1_000))
        #expect(problems([busy, busy, busy, busy]) == [[], [], [], []])
        let few = try info(leader: "n1", well)
        #expect(problems([few, few]) == [[], [.replicasFew(2, expected: 3)]])
        // A replica without a leader has no news of the others.
        let lost = try info(leader: "", replica("n1", current: false, milliseconds: 0))
        #expect(problems([lost, lost, lost]) == [[], [], []])
        let down = try info(leader: "n1", well, replica("n3", current: false, milliseconds: 45_000))
        #expect(problems([down, down, lost])[2] == [.replicasSilent(["n3"])])
    }

    @Test("a stream is created or examined; one that exists otherwise is examined")
    func requests() {
        let run = MachineRun()
        _ = (run.sent(), run.reported())
        run.machine.create(5, settings, now: run.now)
        #expect(run.sent().first?.hasPrefix("$JS.API.STREAM.CREATE.CCS_5 _INBOX.x.1 {") == true)
        run.answer(1, answer())
        #expect(run.reported() == ["stream 5 5-7 []"])
        run.machine.create(5, settings, now: run.now)
        _ = run.sent()
        run.answer(2, "{\"error\":{\"code\":400,\"err_code\":10058,\"description\":\"in use\"}}")
        #expect(run.sent() == ["$JS.API.STREAM.INFO.CCS_5 _INBOX.x.3 "])
        run.answer(3, answer(("discard", "\"old\"")))
        let reported = run.reported()
        #expect(reported.count == 1 && reported[0].contains("discard is old"))
        for (at, text) in ["{}", "{\"error\":{\"code\":500,\"err_code\":10074,\"description\":\"x\"}}"]
            .enumerated()
        {
            run.machine.examine(5, settings, now: run.now)
            run.answer(4 + at, text)
        }
        run.machine.examine(5, settings, now: run.now)
        run.end(6, status: 503)
        run.machine.examine(5, settings, now: run.now)
        run.pass(Limits.JetStream.manageMilliseconds)
        #expect(
            run.reported() == [
                "stream failed 5: unreadable answer", "stream failed 5: refused: x (error 10074)",
                "stream failed 5: no server answers for the stream", "stream failed 5: no answer in time",
            ])
        #expect(run.machine.settings.count == 1)
    }
}
