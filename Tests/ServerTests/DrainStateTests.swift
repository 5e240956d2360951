import Basics
import Testing

@testable import Server

/// Where the daemon is while it drains, as `/readyz` and the status tell it.
@Suite("States of a drain")
struct DrainStateTests {
    @Test("a drain of all shows while it lasts, that of a sender does not, one at the end changes nothing")
    func states() {
        let drainer = Drainer(
            mailboxes: [], pace: Drainer.Pace(graceMilliseconds: 0, spreadMilliseconds: 0))
        func seen(_ selection: Drainer.Selection) -> [Drainer.State] {
            var states: [Drainer.State] = []
            _ = drainer.drainConnections(selection) { _, _ in states.append(drainer.state) }
            return states + [drainer.state]
        }
        #expect(seen(.appServers) == [.draining, .serving])
        #expect(seen(.sender(SenderID(5))) == [.serving, .serving])
        drainer.enter(.stopping)
        #expect(seen(.appServers) == [.stopping, .stopping])
    }
}
