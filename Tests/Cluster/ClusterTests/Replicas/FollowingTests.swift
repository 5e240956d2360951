import Basics
import Cluster
import ClusterLog
import ClusterLogSupport
import Testing

/// When a replica follows its log, looks at the stream of it, and may claim it.
@Suite("the log of a replica") struct FollowingTests {
    private let key = LogKey(cluster: 1, partition: 0)
    private let now = Now(monotonic: Instant(nanoseconds: 0), wall: 0)

    @Test(
        "a follower whose store is behind pauses, also when it follows anew, and goes on when that has caught up"
    )
    func pauses() {
        var effects: [ReplicaEffect] = []
        var owner = Replica(log: key, at: LogReader(), now: now.monotonic)
        var follower = Replica(log: key, at: LogReader(), now: now.monotonic)
        func name(_ number: Int) -> FrameName { FrameName(claim: Claim(1), number: UInt64(number)) }
        owner.handle(.connected, now: now, effects: &effects)
        owner.handle(.claim(Claim(1), released: nil), now: now, effects: &effects)
        for event in [.examined(.fit), .connected] as [ReplicaEvent] {
            follower.handle(event, now: now, effects: &effects)
        }
        effects = []
        let limit = Limits.ClusterHost.unappliedFrames
        for number in 1...limit + 2 {
            let position = LogPosition(UInt64(number))
            guard let frame = owner.frame(name(number)) else {
                Issue.record("frame \(number) is missing")
                return
            }
            var ignored: [ReplicaEffect] = []
            owner.handle(.stored(name(number), at: position), now: now, effects: &ignored)
            owner.handle(.applied(position), now: now, effects: &ignored)
            _ = owner.submit([1].raw, now: now, effects: &ignored)
            follower.handle(.followed(frame, at: position), now: now, effects: &effects)
        }
        #expect(effects.filter { $0 == .pauseFollowing }.count == 1)
        #expect(effects.last == .pauseFollowing && follower.lag > UInt64(limit))
        effects = []
        follower.handle(.disconnected, now: now, effects: &effects)
        follower.handle(.connected, now: now, effects: &effects)
        #expect(effects == [.follow(after: LogPosition(UInt64(limit + 2))), .pauseFollowing])
        effects = []
        for number in 2...limit + 2 {
            follower.handle(.applied(LogPosition(UInt64(number))), now: now, effects: &effects)
            if number == limit / 2 + 1 { #expect(effects.isEmpty, "half of them are left") }
        }
        #expect(effects == [.resumeFollowing])
    }

    @Test("a stream is looked at with each connection until it is seen, and claimed unless it is unfit")
    func streams() {
        var replica = Replica(log: key, at: LogReader(), now: now.monotonic)
        func made(_ events: ReplicaEvent...) -> [ReplicaEffect] {
            var effects: [ReplicaEffect] = []
            for event in events { replica.handle(event, now: now, effects: &effects) }
            return effects
        }
        #expect(made(.connected) == [.examine, .follow(after: .start)])
        #expect(made(.examined(.unfit), .disconnected, .connected) == [.follow(after: .start)])
        let refused = made(.claim(Claim(1), released: nil))
        #expect(refused == [.changed] && replica.report.role == .following, "the order is answered")
        #expect(made(.examined(.unseen), .disconnected, .connected) == [.examine, .follow(after: .start)])
        _ = made(.claim(Claim(1), released: nil))
        #expect(replica.report.role == .claiming, "one that is missing may not be loaded yet")
    }
}
