import Basics
import Catalogue
import Operator
import Testing

@testable import Server

/// What `ccsctl health` finds, and in which order.
@Suite struct HealthTests {
    private let now: UnixMilliseconds = 1_700_000_000_000
    private let day: Int64 = 86_400_000

    private func causes(_ change: (inout HealthState) -> Void) -> [CheckHealth.Cause] {
        var state = HealthState()
        change(&state)
        return state.findings(now: now).map(\.cause)
    }

    @Test("a server is healthy unless a figure exceeds its bound")
    func bounds() {
        #expect(causes { _ in } == [])
        #expect(causes { ($0.diskFree, $0.diskSize) = (10, 100) } == [])
        #expect(causes { ($0.diskFree, $0.diskSize) = (9, 100) } == [.diskLow])
        #expect(causes { ($0.openDescriptors, $0.mostDescriptors) = (80, 100) } == [])
        #expect(causes { ($0.openDescriptors, $0.mostDescriptors) = (81, 100) } == [.descriptorsLow])
        #expect(causes { ($0.connections, $0.connectionLimit) = (80, 100) } == [])
        #expect(causes { ($0.connections, $0.connectionLimit) = (81, 100) } == [.descriptorsLow])
        #expect(causes { $0.secondsSinceRefusal = 59 } == [.descriptorsLow])
        #expect(causes { $0.secondsSinceRefusal = 60 } == [])
        #expect(causes { $0.reloadFailure = "the last reload failed" } == [.reloadFailed])
        #expect(causes { ($0.registryBytes, $0.registryLimit) = (90, 100) } == [])
        #expect(causes { ($0.registryBytes, $0.registryLimit) = (91, 100) } == [.registryFull])
        #expect(causes { ($0.registryBytes, $0.registryLimit) = (91, 0) } == [])
        #expect(causes { $0.certificateNotAfter = now + 14 * day + 1 } == [])
        #expect(causes { $0.certificateNotAfter = now + 14 * day } == [.certificateExpiring])
        #expect(causes { $0.apnsNotAfter = now - 1 } == [.apnsCertificateExpiring])
        #expect(causes { $0.state = .draining } == [.notServing])
        #expect(causes { $0.state = .drained } == [.notServing])
        #expect(causes { $0.clockProblem = "behind" } == [.clockInDoubt])
        #expect(causes { $0.clusterFailure = OperatorProblem("no answer") } == [.clusterAlarm])
        for cause in [ClusterAlarmCause.nodeSilent, .logDegraded] {
            let alarm = ShowCluster.Answer.Alarm(cause: cause, problem: "n3", action: "start it")
            #expect(causes { $0.clusterAlarms = [alarm] } == [.clusterDegraded])
        }
        for (health, seconds, isFailing) in [
            (APNsStateRow.Health.unused, nil, false), (.accepted, nil, false), (.accepted, 29, false),
            (.accepted, 30, true), (.unused, 30, true), (.refused, nil, true), (.clockDoubted, nil, true),
        ] as [(APNsStateRow.Health, Int?, Bool)] {
            let row = APNsStateRow(
                credential: "key-1", environment: .production, health: health, failingSeconds: seconds)
            #expect(causes { $0.apns = [row] } == (isFailing ? [.gatewayFailing] : []))
        }
        #expect(causes { $0.apns = nil } == [.gatewayFailing], "it does not answer")
        #expect(causes { $0.webhooksPaused = 1 } == [.gatewayFailing])
        #expect(causes { $0.webhooksGone = 1 } == [.gatewayFailing])
        #expect(causes { $0.storeFailure = "full" } == [.storeFailing])
        #expect(causes { $0.storeDamage = "table 000012.sst" } == [.storeDamaged])
    }

    @Test(
        "all causes are found together, most urgent first, each with a problem, an action and a code of its own"
    )
    func all() {
        var state = HealthState(
            storeFailure: "full", storeDamage: "table 000012.sst", state: .stopping, clockProblem: "behind",
            registryBytes: 5,
            registryLimit: 5, diskFree: 0, diskSize: 100, openDescriptors: 9, mostDescriptors: 10,
            certificateNotAfter: now - 1, apnsNotAfter: now + 1,
            clusterAlarms: [
                .init(cause: .logDisconnected, problem: "cut off", action: "check NATS"),
                .init(cause: .unowned, problem: "partition 3 has no owner", action: "look"),
                .init(cause: .clock, problem: "node 2 differs", action: "set"),
                .init(cause: .clock, problem: "node 3 differs", action: "set"),
                .init(cause: .nodeSilent, problem: "node 4 is silent", action: "start"),
            ], reloadFailure: "the last reload failed",
            apns: [
                .init(
                    credential: "key-1", environment: .sandbox, health: .refused, status: 403,
                    reason: "Forbidden")
            ],
            webhooksGone: 2, folder: "/data")
        let findings = state.findings(now: now)
        let once = findings.map(\.cause).reduce(into: [CheckHealth.Cause]()) {
            if $0.last != $1 { $0.append($1) }
        }
        #expect(once == CheckHealth.Cause.allCases)
        #expect(findings.allSatisfy { !$0.problem.isEmpty && !$0.action.isEmpty })
        #expect(findings[0].problem.contains("(full)") && findings[0].action.contains("/data"))
        #expect(findings.first { $0.cause == .certificateExpiring }?.problem.contains("has expired") == true)
        #expect(
            findings.first { $0.cause == .apnsCertificateExpiring }?.problem.contains("expires on") == true)
        let codes = CheckHealth.Cause.allCases.map(\.exitCode.rawValue)
        #expect(
            codes == [10, 20] + Array(11...19) + [22, 21, 23], "codes are documented and must not change")
        #expect(
            findings.filter { $0.cause == .clusterAlarm }.map(\.problem) == [
                "partition 3 has no owner", "node 2 differs (and 1 more: ccsctl cluster status)",
            ], "each cause is named, whichever others there are")
        (state.storeFailure, state.storeDamage) = (nil, nil)
        #expect(state.findings(now: now).first?.cause == .notServing)
    }
}
