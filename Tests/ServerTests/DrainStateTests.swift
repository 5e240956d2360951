import Basics
import Testing

@testable import Server

/// The state of the daemon during a drain, as `/readyz` and the status report it.
@Suite("States of a drain")
struct DrainStateTests {
    @Test(
        "a drain of all app servers sets the state, a drain of one sender does not, and a shutdown keeps its state"
    )
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
