import Operator

/// The command line form of an operation in `ccsctl`: its arguments and options, and what the tool adds.
///
/// Names, documentation, limits and defaults are those of the operation. A required field is an argument and any other one an
/// option `--field-name`, unless the form overrides this.
public struct OperationForm: Sendable {
    /// The resulting command of `ccsctl`.
    public let command: Command
    /// The fields that are positional arguments, in order.
    public let positions: [String]
    /// The fields that are options, with the names of the options.
    public let flags: [(field: String, flag: String)]
    /// The fields that the tool fills in itself, from files or keys.
    public let supplied: [String]

    /// The option of all operations that may destroy something.
    private static let confirmation = Option(
        "--yes", "Do not ask for confirmation, which only a terminal can give.")

    /// Creates the form of an operation.
    ///
    /// `optionalArguments` are fields that are arguments although they may be left out; `arguments`, `options` and `details` belong
    /// only to the tool.
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
        positions = positional.map(\.name)
        self.flags = flags.map { (field: $0.field.name, flag: $0.flag) }
        self.supplied = suppliedNames
        command = Command(
            definition.summary.name, definition.summary.text, details: definition.summary.details + details,
            arguments: positional.map(\.argument) + arguments,
            options: flags.map { $0.field.option(named: $0.flag) } + options
                + (definition.summary.isDestroying ? [Self.confirmation] : []), examples: examples)
    }
}

extension FieldDescription {
    /// The default name of the option.
    fileprivate var flag: String { "--" + name.split(separator: "_").joined(separator: "-") }

    fileprivate var argument: Argument {
        if case .word(let words) = form {
            return Argument(
                name.uppercased(), documentation, isOptional: presence != .required, choices: words)
        }
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
        case .boolean: .boolean
        case .text, .named, .time, .object, .record, .list: .text
        }
    }
}
