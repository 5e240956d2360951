import Testing

@testable import Server

@Suite("the roster in the store")
struct RosterStateTests {
    private final class Answers: @unchecked Sendable {
        var all: [Bool] = []
    }

    @Test(
        "a change is stored once; who waits is answered by the attempt that has it, and a later change is stored after it"
    )
    func changes() {
        var state = RosterState.stored
        #expect(state.begin() == nil)
        state.change()
        let answers = Answers()
        state.change { answers.all.append($0) }
        let first = state.begin()
        #expect(first?.count == 1 && state.begin() == nil)
        state.change { answers.all.append($0) }
        state.end(failed: false)
        let second = state.begin()
        #expect(second?.count == 1)
        state.end(failed: false)
        #expect(state.begin() == nil)
        for answer in (first ?? []) + (second ?? []) { answer(true) }
        #expect(answers.all == [true, true])
    }

    @Test("what could not be stored is tried again, and an end that belongs to no attempt changes nothing")
    func failures() {
        var state = RosterState.stored
        state.end(failed: true)
        #expect(state.begin() == nil)
        state.change { _ in }
        #expect(state.begin()?.count == 1)
        state.end(failed: true)
        #expect(state.begin()?.isEmpty == true, "who waited has its answer")
        state.end(failed: false)
        #expect(state.begin() == nil)
    }
}
