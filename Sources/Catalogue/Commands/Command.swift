/// What the value of an option must be.
public enum OptionValue: Sendable, Equatable {
    /// Any text.
    case text
    /// A path.
    case path
    /// A whole number, both ends allowed.
    case integer(ClosedRange<Int>)
    /// One of several words.
    case choice([String])
    /// `true` or `false`; the option alone means true.
    case truth
}

/// An option of a command or of all commands of a program.
public struct Option: Sendable {
    /// With its two dashes: `--socket`.
    public var name: String
    /// What its value must be; nil: it takes none.
    public var value: OptionValue?
    /// Stands for the value in usage lines: `PATH`.
    public var placeholder: String
    /// One line: what it does.
    public var help: String
    /// What holds without it, for help; nil: nothing to say.
    public var preset: String?
    /// Whether it may be given more than once.
    public var isRepeatable: Bool
    /// Whether the command cannot do without it.
    public var isRequired: Bool

    /// An option with a value.
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

    /// An option without a value.
    public init(_ name: String, _ help: String) {
        self.name = name
        self.help = help
        value = nil
        placeholder = ""
        preset = nil
        isRepeatable = false
        isRequired = false
    }

    /// As it stands in a usage line: `--socket PATH`.
    public var usage: String {
        if value == .truth { return "\(name)[=true|false]" }
        return placeholder.isEmpty ? name : "\(name) \(placeholder)"
    }
}

/// An argument of a command, by position.
public struct Argument: Sendable {
    /// Stands for it in usage lines: `SENDER_ID`.
    public var name: String
    /// One line: what it is.
    public var help: String
    /// Whether it may be left out; only the last ones may.
    public var isOptional: Bool
    /// Whether it may be repeated; only the last one may.
    public var isRepeatable: Bool
    /// The only words allowed; empty: any.
    public var choices: [String]

    /// Describes an argument.
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

    /// As it stands in a usage line: `[SENDER_ID]`.
    public var usage: String {
        let repeated = isRepeatable ? "\(name)..." : name
        return isOptional ? "[\(repeated)]" : repeated
    }
}

/// A line to copy, and what it does.
public struct Example: Sendable {
    /// What it does.
    public var meaning: String
    /// The line.
    public var line: String

    /// An example.
    public init(_ meaning: String, _ line: String) {
        self.meaning = meaning
        self.line = line
    }
}

/// One thing that a program does.
public struct Command: Sendable {
    /// Its words: `["senders", "add"]`; empty for what the program does without a word.
    public var words: [String]
    /// One line: what it does.
    public var summary: String
    /// More about it, in paragraphs.
    public var details: [String]
    /// Arguments, in order.
    public var arguments: [Argument]
    /// Options of this command only.
    public var options: [Option]
    /// Lines to copy.
    public var examples: [Example]

    /// Describes a command; `words` are separated by spaces.
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

    /// Its words with spaces between them.
    public var name: String { words.joined(separator: " ") }
}
