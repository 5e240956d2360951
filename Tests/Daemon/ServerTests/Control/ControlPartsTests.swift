import Basics
import Delivery
import Testing

@testable import Operator
@testable import Server

/// Traces, and the audit line of a message.
@Suite("Parts of the operator's commands")
struct ControlPartsTests {
    @Test("a trace reports the steps of its own request and registration, and counts those it leaves out")
    func trace() {
        var trace = RunningTrace(requestID: 7, registration: RegistrationNumber(1))
        var note = TraceRecord(.downstream, .sent)
        note.registration = RegistrationNumber(1)
        var other = note
        other.registration = RegistrationNumber(2)
        let steps = [
            trace.step(of: note, requestID: 7, at: 0), trace.step(of: note, requestID: 8, at: 0),
            trace.step(of: other, requestID: 7, at: 0),
            trace.step(of: TraceRecord(.connection, .connected), requestID: 7, at: 0),
        ]
        #expect(steps.map { $0 != nil } == [true, false, false, true])
        trace.isCongested = true
        for _ in 0..<3 { #expect(trace.step(of: note, requestID: 7, at: 0) == nil) }
        #expect(trace.lines == 2 && trace.leftOut == 3)
        var whole = RunningTrace(requestID: 7, registration: nil)
        #expect(
            whole.step(of: other, requestID: 7, at: 0) != nil,
            "canary: without a registration all steps are reported")
    }

    @Test("an unknown token is not repeated in the log, since it may be a secret")
    func malformedTarget() {
        let request = SendMessage(sender: SenderID(5), to: Redacted("SECRET-TOKEN-OF-ANOTHER-SERVER"))
        let record = OperatorRecord(
            request, .done("BAD_REGISTRATION"), seal: TokenSeal(secret: [UInt8](repeating: 9, count: 32)))
        #expect(!"\(record)".contains("SECRET"))
        #expect(record.named.map { $0.value } == ["5", "malformed"])
    }
}
