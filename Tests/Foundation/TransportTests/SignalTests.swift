import Basics
import Glibc
import Testing

@testable import Transport

@Suite struct SignalTests {
    @Test("signals arrive through the reactor")
    func signals() throws {
        // Signals apply to the whole process, and threads of the test runner do not block them: raise them on a thread that
        // does.
        let outcome = Outcome()
        let thread = try Transport.Thread(name: "signals") { outcome.value = Self.receive() }
        thread.join()
        #expect(outcome.value == [.reload, .interrupt, .terminate])
    }

    private final class Outcome: @unchecked Sendable {  // Read after the join only.
        var value: [ServerSignal] = []
    }

    private static func receive() -> [ServerSignal] {
        guard let signals = try? Signals(), let reactor = try? Reactor(index: 0) else { return [] }
        defer { reactor.end() }
        var seen: [ServerSignal] = []
        var watched = 0
        guard (try? reactor.watch(signals.descriptor) { _ in watched += 1 }) != nil else { return [] }
        for signal in ServerSignal.allCases {
            // To this thread only: it blocks the signal, so that only the descriptor receives it.
            guard pthread_kill(pthread_self(), signal.rawValue) == 0 else { return [] }
        }
        guard reactor.turns(until: { watched > 0 }) else { return [] }
        while let signal = signals.next() { seen.append(signal) }
        return seen
    }
}
