import Basics
import Operator
import Testing

@testable import Server

/// The state of the daemon during a drain, as `/readyz` and the status report it.
@Suite("States of a drain")
struct DrainStateTests {
    private let drainer = Drainer(
        mailboxes: [], pace: Drainer.Pace(graceMilliseconds: 0, spreadMilliseconds: 0))

    @Test(
        "a drain of all app servers sets the state, a drain of one sender does not, and a shutdown keeps its state"
    )
    func states() {
        func seen(_ selection: Drainer.Selection) -> [ServiceWord] {
            var states: [ServiceWord] = []
            _ = drainer.drainConnections(selection) { _, _ in states.append(drainer.state.word) }
            return states + [drainer.state.word]
        }
        #expect(seen(.appServers) == [.draining, .serving])
        #expect(seen(.sender(SenderID(5))) == [.serving, .serving])
        drainer.enter(.stopping)
        #expect(seen(.appServers) == [.stopping, .stopping])
    }

    @Test("a drain that holds stays drained until it is released, also after another drain")
    func hold() {
        var seen: [ServiceWord] = []
        #expect(drainer.hold { _, _ in seen.append(drainer.state.word) } == 0)
        #expect(seen == [.draining] && drainer.state == .drained)
        _ = drainer.drainConnections(.appServers) { _, _ in }
        #expect(drainer.state == .drained)
        #expect(drainer.hold { _, _ in } == 0 && drainer.state == .drained, "a repetition changes nothing")
        #expect(drainer.release() && drainer.state == .serving)
        #expect(drainer.release() && drainer.state == .serving, "a repetition changes nothing")
    }

    @Test("a shutdown has its seconds, however long the grace period of a drain is")
    func shutdownPace() {
        let slow = Drainer.Pace(graceMilliseconds: 600_000, spreadMilliseconds: 300_000)
        let limited = slow.atShutdown(within: 20)
        #expect(limited.graceMilliseconds == 10_000 && limited.spreadMilliseconds == 0)
        #expect(limited.slackMilliseconds == min(slow.slackMilliseconds, 5_000))
        let quick = Drainer.Pace(graceMilliseconds: 1_000, spreadMilliseconds: 0, slackMilliseconds: 200)
            .atShutdown(within: 20)
        #expect(quick.graceMilliseconds == 1_000 && quick.slackMilliseconds == 200)
        let none = slow.atShutdown(within: 0)
        #expect(none.graceMilliseconds == 0 && none.slackMilliseconds == 0)
    }

    @Test("a release during the drain wins, and a daemon that stops is neither held nor released")
    func races() {
        let drained = drainer.hold { _, _ in #expect(drainer.release()) }
        #expect(drained == 0)
        #expect(drainer.state == .serving)
        #expect(drainer.hold { _, _ in drainer.enter(.stopping) } == 0)
        #expect(drainer.state == .stopping)
        #expect(drainer.hold { _, _ in } == nil && !drainer.release() && drainer.state == .stopping)
    }

    @Test("a drain that holds takes over one that runs")
    func takesOver() {
        var state = ServiceState.serving
        #expect(state.beginDrain() && !state.beginDrain() && state.hold())
        state.endDrain()
        #expect(state == .draining(holds: true), "the first drain does not end the second")
        #expect(state.endHold() && state == .drained)
        #expect(state.release() && !state.endHold() && state == .serving)
    }
}
