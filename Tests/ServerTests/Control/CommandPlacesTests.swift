import Basics
import Operator
import Testing
import Wire

@testable import Server

/// The places of commands that run at once are shared among the operators.
@Suite("Places of commands") struct CommandPlacesTests {
    private func refusal(_ places: inout CommandPlaces, _ name: String) -> APIProblem? {
        do {
            try places.take(for: name)
            return nil
        } catch { return error }
    }

    @Test("one operator has a part of the places, all operators together have no more than there are")
    func limits() {
        var places = CommandPlaces()
        let (all, own) = (Limits.OperatorAPI.commands, Limits.OperatorAPI.commandsPerOperator)
        for _ in 0..<own { #expect(refusal(&places, "victor") == nil) }
        let refused = refusal(&places, "victor")
        #expect(refused?.status == .unavailable && refused?.header?.value == "10")
        #expect(
            refused?.detail
                == "24 commands and streams of victor are running, which is the most for one operator"
        )
        for number in 0..<(all - own) { #expect(refusal(&places, "other \(number)") == nil) }
        #expect(
            refusal(&places, "late")?.detail == "64 commands and streams are running, which is the most")
        places.free(for: "victor")
        #expect(refusal(&places, "victor") == nil && refusal(&places, "victor") != nil)
        for _ in 0..<own { places.free(for: "victor") }
        for _ in 0..<own { #expect(refusal(&places, "victor") == nil) }
    }
}
