/// What `ccsctl operations --json` prints.
public struct OperationsOutput: Record {
    /// A field of an operation.
    public struct FieldRow: Record {
        public var name: String
        public var takes: String
        public var isRequired: Bool
        public var help: String
        public var preset: String?

        /// Creates the row of a field.
        public init(_ field: FieldDescription) {
            var preset: String?
            if case .preset(let value) = field.presence { preset = value }
            self.init(
                name: field.name, takes: field.form.expected, isRequired: field.presence == .required,
                help: field.documentation, preset: preset)
        }

        private init(name: String, takes: String, isRequired: Bool, help: String, preset: String?) {
            self.name = name
            self.takes = takes
            self.isRequired = isRequired
            self.help = help
            self.preset = preset
        }

        public static let fields = Fields(
            FieldRow.init(name:takes:isRequired:help:preset:),
            .required("name", .text, \.name, "The name of the field."),
            .required("takes", .text, \.takes, "The allowed values."),
            .required("required", .boolean, \.isRequired, "Whether it must be present."),
            .required("help", .text, \.help, "A description."),
            .optional("default", .text, \.preset, "The default."))
    }

    /// A line that an operation sends before its answer.
    public struct LineRow: Record {
        public var name: String
        public var content: [FieldRow]

        /// Creates a row.
        public init(name: String, content: [FieldRow]) {
            self.name = name
            self.content = content
        }

        public static let fields = Fields(
            LineRow.init(name:content:), .required("name", .text, \.name, "The key of the line."),
            .required("fields", .list(.record), \.content, "The fields of the line."))
    }

    /// An operation.
    public struct Row: Record {
        public var name: String
        public var role: String
        public var isChanging: Bool
        public var isDestroying: Bool
        public var text: String
        public var arguments: [FieldRow]
        public var answer: [FieldRow]
        public var lines: [LineRow]

        /// Creates the row of an operation.
        public init(_ operation: OperationDefinition) {
            self.init(
                name: operation.summary.name, role: operation.summary.role.rawValue,
                isChanging: operation.summary.isChanging, isDestroying: operation.summary.isDestroying,
                text: operation.summary.text, arguments: operation.arguments.map { FieldRow($0) },
                answer: operation.answer.map { FieldRow($0) },
                lines: operation.lines.map { line in
                    LineRow(name: line.name, content: line.fields.map { FieldRow($0) })
                })
        }

        private init(
            name: String, role: String, isChanging: Bool, isDestroying: Bool, text: String,
            arguments: [FieldRow], answer: [FieldRow], lines: [LineRow]
        ) {
            self.name = name
            self.role = role
            self.isChanging = isChanging
            self.isDestroying = isDestroying
            self.text = text
            self.arguments = arguments
            self.answer = answer
            self.lines = lines
        }

        public static let fields = Fields(
            Row.init(name:role:isChanging:isDestroying:text:arguments:answer:lines:),
            .required("name", .text, \.name, "The name of the operation."),
            .required("role", .text, \.role, "The role that the caller needs."),
            .required("changes", .boolean, \.isChanging, "Whether it changes data."),
            .required("asks", .boolean, \.isDestroying, "Whether ccsctl asks for confirmation."),
            .required("text", .text, \.text, "A description."),
            .required("arguments", .list(.record), \.arguments, "The arguments."),
            .required("answer", .list(.record), \.answer, "The fields of the answer."),
            .required("lines", .list(.record), \.lines, "The lines before the answer."))
    }

    /// The operations.
    public var operations: [Row]

    /// Creates an output.
    public init(operations: [Row]) { self.operations = operations }

    public static let fields = Fields(
        OperationsOutput.init(operations:),
        .required("operations", .list(.record), \.operations, "The operations."))
}
