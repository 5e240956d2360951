import Operator
import Testing

@testable import Catalogue

/// The command line of ccsctl has a form for each operation with all of its fields.
@Suite struct OperationFormTests {
    /// The fields that a form fills: by arguments, options or files.
    private static func places(_ form: OperationForm) -> [String] {
        form.positions + form.flags.map(\.field) + form.supplied
    }

    /// The fields of an operation that the form does not fill exactly once.
    private static func misplaced(_ places: [String], of operation: any OperatorCommand.Type) -> [String] {
        operation.definition.arguments.map(\.name).filter { field in places.count { $0 == field } != 1 }
    }

    @Test(
        "every argument of every operation has one place on the command line",
        arguments: Operations.all)
    func places(operation: any OperatorCommand.Type) {
        let form = OperationForm.of(operation)
        #expect(form.command.name == operation.summary.name)
        #expect(Self.misplaced(Self.places(form), of: operation) == [])
        #expect(form.flags.allSatisfy { flag in form.command.options.contains { $0.name == flag.flag } })
        #expect(form.command.arguments.count >= form.positions.count)
    }

    @Test("a form has the options of the operation and those that the tool adds")
    func texts() {
        let devices = OperationForm.of(ListDevices.self).command
        #expect(
            devices.options.map(\.usage) == [
                "--limit N", "--after DEVICE", "--sender N", "--app NAME", "--channel mcs|web|apns",
                "--presence online|offline", "--seen-before TIME", "--seen-after TIME",
                "--waiting[=true|false]",
            ])
        let level = OperationForm.of(ChangeLogLevel.self).command
        #expect(level.arguments.map(\.usage) == ["[LEVEL]"] && level.arguments[0].choices.contains("debug"))
        #expect(level.options.map(\.usage) == ["--for DURATION"])
        #expect(devices.options[0].preset == "100" && devices.options[0].value == .integer(1...10_000))
        let drain = OperationForm.of(DrainSessions.self).command
        #expect(
            drain.options.map(\.usage) == [
                "--session ID", "--sender N", "--hold[=true|false]", "--release[=true|false]", "--yes",
            ])
        let add = OperationForm.of(AddSender.self).command
        #expect(
            add.options.map(\.usage) == [
                "--label TEXT", "--project NAME", "--sender-id N", "--key-file FILE", "--key-stdin",
            ])
        let send = OperationForm.of(SendMessage.self).command
        #expect(send.arguments.map(\.usage) == ["SENDER_ID", "[TOKEN]", "[KEY=VALUE...]"])
        #expect(send.options.map(\.usage).contains("--priority normal|high"))
        let accounts = OperationForm.of(ListAccounts.self).command
        #expect(accounts.arguments.map(\.usage) == ["[SENDER_ID]"])
        #expect(OperationForm.of(ShowDevice.self).command.arguments.map(\.usage) == ["DEVICE|TOKEN"])
    }

    @Test(
        "an operation has --yes if it may destroy something, and only then", arguments: Operations.all
    )
    func confirmation(operation: any OperatorCommand.Type) {
        let hasYes = OperationForm.of(operation).command.options.contains { $0.name == "--yes" }
        #expect(hasYes == operation.definition.summary.isDestroying)
    }

    @Test("the reference has every operation with each of its fields")
    func reference() {
        let text = OperationPrinter.reference()
        for operation in Operations.all {
            let operation = operation.definition
            #expect(text.contains("\n## `\(operation.summary.name)`\n"))
            #expect(text.contains("| `\(operation.summary.name)` | \(operation.summary.role.rawValue) |"))
            for field in operation.arguments + operation.answer {
                #expect(text.contains("| `\(field.name)` | "))
            }
        }
    }

    @Test("canary: an argument without a place, and one with two places, are found")
    func canary() {
        let places = Self.places(OperationForm(ListDevices.self, supplied: [\.limit]))
        #expect(Self.misplaced(places, of: ListDevices.self) == [])
        #expect(Self.misplaced(places.filter { $0 != "after" }, of: ListDevices.self) == ["after"])
        #expect(Self.misplaced(places + ["limit"], of: ListDevices.self) == ["limit"])
    }
}
