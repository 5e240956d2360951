import Operator
import Testing

@testable import Server

/// The server has a handler for each operation.
@Suite("Command handlers") struct CommandHandlersTests {
    @Test("every operation has a handler")
    func complete() { #expect(CommandHandlers().missing == []) }

    @Test("canary: an operation without a handler is found")
    func canary() {
        var handlers = CommandHandlers()
        handlers.handlers[ObjectIdentifier(ListDevices.self)] = nil
        #expect(handlers.missing == [ListDevices.summary.name])
    }
}
