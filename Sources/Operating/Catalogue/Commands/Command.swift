/// The type of an option's value.
public enum OptionValue: Sendable, Equatable {
    case text
    case path
    case integer(ClosedRange<Int>)
    case choice([String])
    /// `true` or `false`; the option alone means true.
    case boolean
}

/// An option of a command or of all commands of a program.
public struct Option: Sendable {
    /// The name with its two dashes: `--socket`.
    public var name: String
    /// The type of its value; `nil` if it takes no value.
    public var value: OptionValue?
    /// The placeholder for the value in usage lines: `PATH`.
    public var placeholder: String
    /// A one-line description.
    public var help: String
    /// The default, as help shows it; `nil` if help shows none.
    public var preset: String?
    /// Whether it may be given more than once.
    public var isRepeatable: Bool
    /// Whether the command requires it.
    public var isRequired: Bool

    /// Describes an option that takes a value.
    public init(
        _ name: String, _ value: OptionValue, _ placeholder: String, _ help: String, preset: String? = nil,
        isRepeatable: Bool = false, isRequired: Bool = false
    ) {
        self.name = name
        self.value = value
        self.placeholder = placeholder
        self.help = help
        self.preset = preset
        self.isRepeatable = isRepeatable
        self.isRequired = isRequired
    }

    /// Describes an option that takes no value.
    public init(_ name: String, _ help: String) {
        self.name = name
        self.help = help
        value = nil
        placeholder = ""
        preset = nil
        isRepeatable = false
        isRequired = false
    }

    /// The form in a usage line: `--socket PATH`.
    public var usage: String {
        if value == .boolean { return "\(name)[=true|false]" }
        return placeholder.isEmpty ? name : "\(name) \(placeholder)"
    }
}

/// A positional argument of a command.
public struct Argument: Sendable {
    /// The name in usage lines: `SENDER_ID`.
    public var name: String
    /// A one-line description.
    public var help: String
    /// Whether it may be left out; no required argument may follow.
    public var isOptional: Bool
    /// Whether it may be repeated; only the last argument may.
    public var isRepeatable: Bool
    /// The allowed words; empty allows any.
    public var choices: [String]

    /// Creates the description of an argument.
    public init(
        _ name: String, _ help: String, isOptional: Bool = false, isRepeatable: Bool = false,
        choices: [String] = []
    ) {
        self.name = name
        self.help = help
        self.isOptional = isOptional
        self.isRepeatable = isRepeatable
        self.choices = choices
    }

    /// The form in a usage line: `[SENDER_ID]`.
    public var usage: String {
        let repeated = isRepeatable ? "\(name)..." : name
        return isOptional ? "[\(repeated)]" : repeated
    }
}

/// A command line to copy, with a description.
public struct Example: Sendable {
    public var meaning: String
    public var line: String

    /// Creates an example from its description and its command line.
    public init(_ meaning: String, _ line: String) {
        self.meaning = meaning
        self.line = line
    }
}

/// A command of a program, such as `senders add`.
public struct Command: Sendable {
    /// The words of its name: `["senders", "add"]`; empty for what the program does without a command.
    public var words: [String]
    /// A one-line description.
    public var summary: String
    /// Further paragraphs of the description.
    public var details: [String]
    public var arguments: [Argument]
    /// The options of this command, without those of the whole program.
    public var options: [Option]
    public var examples: [Example]

    /// Creates the description of a command; `words` is its name, separated by spaces.
    public init(
        _ words: String, _ summary: String, details: [String] = [], arguments: [Argument] = [],
        options: [Option] = [], examples: [Example] = []
    ) {
        self.words = words.split(separator: " ").map(String.init)
        self.summary = summary
        self.details = details
        self.arguments = arguments
        self.options = options
        self.examples = examples
    }

    /// The words of its name, joined by spaces.
    public var name: String { words.joined(separator: " ") }
}
