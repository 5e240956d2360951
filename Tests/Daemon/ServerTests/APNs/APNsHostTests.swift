import Basics
import Catalogue
import Delivery
import Operator
import Synchronization
import Testing
import Wire

@testable import APNsGateway
@testable import Server

@Suite("APNs host") struct APNsHostTests {
    @Test(
        "a delivery reaches Apple over TLS and HTTP/2 with the headers of the specification, and is answered")
    func delivery() throws {
        let bench = try APNsBench()
        _ = try bench.addKey()
        bench.deliver([APNsBench.token("00")])
        #expect(bench.turns { bench.answers.count == 1 })
        #expect(bench.answers.first?.outcome == .accepted(.production))
        let request = try #require(bench.apple.requests.first)
        #expect(request.method == .post)
        #expect(request.path == Array("/3/device/\(APNsBench.token("00"))".utf8))
        #expect(request.header("apns-topic") == Array("com.example.app".utf8))
        #expect(request.header("apns-push-type") == Array("alert".utf8))
        #expect(request.header("apns-priority") == Array("10".utf8))
        #expect(request.header("apns-expiration") == Array("0".utf8))
        #expect(request.header("apns-collapse-id") == Array("c".utf8))
        #expect(request.header("apns-id") == Array("00000000-0000-4000-8000-00000000000a".utf8))
        #expect(request.header("authorization")?.starts(with: "bearer ey".utf8) == true)
        #expect(request.header("content-length") == Array("21".utf8))
        #expect(request.header("content-type") == nil)
        #expect(request.body == Array("{\"aps\":{\"alert\":\"a\"}}".utf8))
        #expect(bench.metrics.value(.apnsAnswers, 0, 0) == 1 && bench.metrics.value(.apnsQueue) == 0)
        #expect(bench.metrics.value(.apnsDeliveries, 0) == 1 && bench.metrics.value(.apnsRequestsOpen) == 0)
        #expect(bench.metrics.value(.apnsConnections, 0) == 1)
        let times = (0...Metric.apnsAnswerTimes.bounds.count).map {
            bench.metrics.value(.apnsAnswerTimes, 0, $0)
        }
        #expect(times.reduce(0, +) == 1, "\(times)")
    }

    @Test("without a credential a delivery is refused at once, and nothing is connected")
    func noCredential() throws {
        let bench = try APNsBench()
        bench.deliver([APNsBench.token("00")])
        #expect(bench.turns { bench.answers.count == 1 })
        #expect(bench.answers.first?.outcome == .refused(APNsRefusal(.credential)))
        #expect(bench.apple.accepted == 0 && bench.metrics.value(.apnsQueue) == 0)
    }

    @Test("500 deliveries are answered over one connection")
    func many() throws {
        let bench = try APNsBench()
        _ = try bench.addKey()
        bench.deliver((0..<500).map { APNsBench.token("00\(1_000 + $0)") })
        #expect(bench.turns { bench.answers.count == 500 })
        #expect(bench.answers.allSatisfy { $0.outcome == .accepted(.production) })
        #expect(bench.apple.accepted == 1 && bench.apple.requests.count == 500)
    }

    @Test("operators see whether Apple accepts a credential; a thread that does not answer is not waited for")
    func states() throws {
        let bench = try APNsBench()
        _ = try bench.addKey()
        let before = bench.host.credentialStates
        #expect(before.map(\.environment) == [.production, .sandbox])
        #expect(before.allSatisfy { $0.health == .unused && $0.tokenAgeSeconds == nil })
        bench.deliver([APNsBench.token("00")])
        #expect(bench.turns { bench.answers.count == 1 })
        let after = bench.host.credentialStates
        #expect(after.map(\.health) == [.accepted, .unused])
        #expect(after.first?.connections == 1 && after.first?.tokenAgeSeconds != nil)
        let rows = after.map { APNsStateRow($0) }
        #expect(rows.map(\.credential) == ["key", "key"] && rows.map(\.health) == [.accepted, .unused])
        // The test runs this thread, and does not now.
        #expect(bench.host.port.states(withinMilliseconds: 0) == nil)
        let latch = bench.host.port.mailbox.ask { $0.credentialStates }
        #expect(bench.turns { latch.wait(milliseconds: 0) != nil }, "canary: else it does answer")
    }

    @Test("a refusal is shown with Apple's word, and a refused connection without")
    func refusedState() {
        func row(_ health: APNsCredentialStatus.Health) -> APNsStateRow {
            APNsStateRow(
                APNsCredentialStatus(
                    id: APNsCredentialID("key"), environment: .sandbox, health: health,
                    refusedTopics: [Array("com.a".utf8)], connections: 1, requestsInFlight: 2, waiting: 3,
                    tokenAgeSeconds: nil))
        }
        let refused = row(.refused(APNsVerdict(status: 403, reason: "Forbidden")))
        #expect(refused.health == .refused && refused.status == 403 && refused.reason == "Forbidden")
        #expect(refused.refusedTopics == ["com.a"] && refused.environment == .sandbox)
        #expect(refused.requestsInFlight == 2 && refused.waiting == 3)
        #expect(row(.refused(nil)).health == .refused && row(.refused(nil)).status == nil)
        #expect(row(.clockDoubted).health == .clockDoubted)
    }

    @Test("the time of a 410 reaches the core")
    func ended() throws {
        let bench = try APNsBench()
        _ = try bench.addKey()
        bench.deliver([APNsBench.token("0410")])
        #expect(bench.turns { bench.answers.count == 1 })
        #expect(
            bench.answers.first?.outcome
                == .tokenEnded(APNsVerdict(status: 410, reason: "Unregistered", invalidSince: 1_000)))
    }

    @Test("after GOAWAY and after a lost connection, later deliveries go over a new connection")
    func reconnects() throws {
        let bench = try APNsBench()
        _ = try bench.addKey()
        bench.deliver([APNsBench.token("00")])
        #expect(bench.turns { bench.answers.count == 1 })
        bench.apple.leave()
        #expect(bench.turns { bench.apple.closed == 1 })
        bench.deliver([APNsBench.token("01")])
        #expect(bench.turns { bench.answers.count == 2 })
        bench.apple.drop()
        #expect(bench.turns { bench.apple.closed == 2 && bench.metrics.value(.apnsConnections, 0) == 0 })
        bench.deliver([APNsBench.token("02")])
        #expect(bench.turns { bench.answers.count == 3 })
        #expect(bench.answers.allSatisfy { $0.outcome == .accepted(.production) })
        #expect(bench.apple.accepted == 3)
    }

    @Test("a server without HTTP/2, with another name or from another authority gets no request")
    func refused() throws {
        let plain = try AppleStandIn(protocols: ["http/1.1"])
        // One that chooses none of the offered protocols has not agreed to HTTP/2.
        let bench = try APNsBench(apple: plain)
        _ = try bench.addKey()
        bench.deliver([APNsBench.token("00")])
        #expect(bench.turns { bench.answers.count == 1 })
        guard case .later? = bench.answers.first?.outcome else {
            Issue.record("\(bench.answers)")
            return
        }
        #expect(bench.apple.requests.isEmpty)
        for (apple, file) in [
            (try AppleStandIn(names: ["other.example"]), nil),
            (try AppleStandIn(), bench.apple.authorityFile),
        ] {
            let bench = try APNsBench(apple: apple) {
                if let file { $0[.apnsCAFile] = .text(file) }
            }
            _ = try bench.addKey()
            bench.deliver([APNsBench.token("00")])
            #expect(bench.turns { bench.metrics.value(.apnsConnects, 1) > 0 })
            #expect(bench.apple.requests.isEmpty && bench.metrics.value(.apnsConnects, 0) == 0)
        }
    }

    @Test("a drain answers everything and closes the connections")
    func drain() throws {
        let bench = try APNsBench()
        _ = try bench.addKey()
        bench.deliver([APNsBench.token("00")])
        #expect(bench.turns { bench.answers.count == 1 })
        let isDrained = Atomic(false)
        bench.host.drain(seconds: 10) { isDrained.store(true, ordering: .relaxed) }
        #expect(bench.turns { isDrained.load(ordering: .relaxed) && bench.apple.closed == 1 })
        bench.deliver([APNsBench.token("01")])
        #expect(bench.turns { bench.answers.count == 2 })
        guard case .later? = bench.answers.last?.outcome else {
            Issue.record("\(bench.answers)")
            return
        }
    }

    @Test("a self-test reports Apple's answer to a throwaway token, or why there is none")
    func probe() throws {
        let bench = try APNsBench()
        let material = try bench.addKey()
        let outcomes = Mutex<[APNsProbe.Outcome]>([])
        bench.host.probe(material, topic: Array("com.example.app".utf8), .sandbox) { outcome in
            outcomes.withLock { $0.append(outcome) }
        }
        #expect(bench.turns { outcomes.withLock { $0.count } == 1 })
        #expect(outcomes.withLock { $0 } == [.answered(APNsVerdict(status: 200, reason: ""))])
        #expect(bench.turns { bench.apple.closed == 1 && bench.host.probes.isEmpty })
        let path = bench.apple.requests.first?.path ?? []
        #expect(path.count == "/3/device/".utf8.count + 64)
    }
}
