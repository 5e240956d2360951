public import Operator

/// How an operation stands on the command line of `ccsctl`: which fields are arguments, what its options are called, and what the
/// tool adds.
///
/// Names, documentation, limits and presets are those of the operation. A field that is required is an argument, any other one an
/// option `--field-name`, unless the form says otherwise.
public struct OperationForm: Sendable {
    /// The operation.
    public let name: OperationName
    /// The command that it is.
    public let command: Command
    /// The fields of its arguments, in order.
    public let positions: [String]
    /// The fields of its options, with the names of these.
    public let flags: [(field: String, flag: String)]
    /// Fields that the tool fills in by itself, from files or keys.
    public let supplied: [String]

    /// The form of an operation.
    ///
    /// `optionalArguments` are fields that are arguments although they may be left out; `arguments`, `options` and `details` are of
    /// the tool alone.
    init<Operation: OperatorCommand>(
        _ operation: Operation.Type, flags renamed: [PartialKeyPath<Operation>: String] = [:],
        optionalArguments: [PartialKeyPath<Operation>] = [], supplied: [PartialKeyPath<Operation>] = [],
        arguments: [Argument] = [], options: [Option] = [], details: [String] = [], examples: [Example] = []
    ) {
        let definition = Operation.definition
        let suppliedNames = supplied.compactMap { Operation.fields.name(of: $0) }
        let optionalNames = optionalArguments.compactMap { Operation.fields.name(of: $0) }
        var flagNames: [String: String] = [:]
        for (path, flag) in renamed { Operation.fields.name(of: path).map { flagNames[$0] = flag } }
        let given = definition.arguments.filter { !suppliedNames.contains($0.name) }
        let positional = given.filter { $0.presence == .required || optionalNames.contains($0.name) }
        let optional = given.filter { field in !positional.contains { $0.name == field.name } }
        let flags = optional.map { field in (field: field, flag: flagNames[field.name] ?? field.flag) }
        name = definition.summary.name
        positions = positional.map(\.name)
        self.flags = flags.map { (field: $0.field.name, flag: $0.flag) }
        self.supplied = suppliedNames
        command = Command(
            name.rawValue, definition.summary.text, details: definition.summary.details + details,
            arguments: positional.map(\.argument) + arguments,
            options: flags.map { $0.field.option(named: $0.flag) } + options, examples: examples)
    }
}

extension FieldDescription {
    /// The option that it is unless the form says otherwise.
    fileprivate var flag: String { "--" + name.split(separator: "_").joined(separator: "-") }

    fileprivate var argument: Argument {
        let isPlain = placeholder.isEmpty || placeholder == "N"
        return Argument(
            isPlain ? name.uppercased() : placeholder, documentation, isOptional: presence != .required)
    }

    fileprivate func option(named flag: String) -> Option {
        var preset: String?
        if case .preset(let value) = presence, !value.isEmpty { preset = value }
        return Option(flag, value, placeholder, documentation, preset: preset)
    }

    private var value: OptionValue {
        switch form {
        case .integer(let range), .number(_, let range): .integer(range)
        case .word(let words): .choice(words)
        case .truth: .truth
        case .text, .named, .time, .object, .record, .list: .text
        }
    }
}
