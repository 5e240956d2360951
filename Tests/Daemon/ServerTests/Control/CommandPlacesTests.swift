import Basics
import Operator
import Testing
import Wire

@testable import Server

/// The places of commands that run at once are shared among the operators.
@Suite("Places of commands") struct CommandPlacesTests {
    private static let command = CommandPlaces.Kind(role: .operator, isStream: false)
    private static let stream = CommandPlaces.Kind(role: .operator, isStream: true)
    private static let viewerCommand = CommandPlaces.Kind(role: .viewer, isStream: false)
    private static let viewerStream = CommandPlaces.Kind(role: .viewer, isStream: true)

    private func refusal(
        _ places: inout CommandPlaces, _ name: String, _ kind: CommandPlaces.Kind = Self.command
    ) -> APIProblem? {
        do {
            try places.take(for: name, kind)
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
        places.free(for: "victor", Self.command)
        #expect(refusal(&places, "victor") == nil && refusal(&places, "victor") != nil)
        for _ in 0..<own { places.free(for: "victor", Self.command) }
        for _ in 0..<own { #expect(refusal(&places, "victor") == nil) }
    }

    /// Takes places for callers of one kind until one is refused. Returns how many were taken, and the refusal.
    private func fill(_ places: inout CommandPlaces, _ kind: CommandPlaces.Kind) -> (Int, String?) {
        for number in 0..<1_000 {
            if let problem = refusal(&places, "\(kind.role) \(number / 8)", kind) {
                return (number, problem.detail)
            }
        }
        return (1_000, nil)
    }

    @Test("streams of viewers leave places for operators, and streams leave places for short commands")
    func kept() {
        var places = CommandPlaces()
        let viewers = fill(&places, Self.viewerStream)
        #expect(viewers == (32, "32 streams of viewers are running, which is the most"))
        #expect(refusal(&places, "alice") == nil, "an operator's status")
        #expect(refusal(&places, "victor", Self.viewerCommand) == nil, "a viewer's status")
        let operators = fill(&places, Self.stream)
        #expect(operators == (8, "40 streams are running, which is the most"))
        #expect(refusal(&places, "late viewer", Self.viewerCommand) == nil)
        let commands = fill(&places, Self.viewerCommand)
        #expect(commands == (14, "48 commands and streams of viewers are running, which is the most"))
        #expect(refusal(&places, "alice") == nil, "whatever viewers do")
        places.free(for: "viewer 0", Self.viewerStream)
        #expect(refusal(&places, "late viewer", Self.viewerStream) == nil)
    }
}
