public import Operator

/// Prints the JSON Schema of what `ccsctl` prints with `--json`.
public enum SchemaPrinter {
    /// The outputs of the commands that need no daemon, or print another output than that of one operation.
    public static let offline: [OutputSchema.Output] = [
        OutputSchema.output("cluster found", "The new cluster.", FoundedClusterOutput.self),
        OutputSchema.output("cluster add", "The new node.", AddedNodeOutput.self),
        text("config sample"),
        OutputSchema.output("config docs", "The configuration keys.", KeysOutput.self),
        OutputSchema.output("operations", "The operations.", OperationsOutput.self),
        text("metrics docs"), text("metrics alerts"), text("metrics dashboard"),
        OutputSchema.output("export", "The written file.", ExportOutput.self),
        OutputSchema.output("import", "What was done with the rows.", ImportOutput.self),
        OutputSchema.output("schema", "A JSON Schema.", SchemaOutput.self),
        OutputSchema.output("explain", "Words and their meanings.", WordsOutput.self), text("man"),
        text("completion"),
        OutputSchema.output("version", "The versions of the programs.", VersionOutput.self),
    ]

    /// The document with all schemas, indented.
    public static func document() -> String { OutputSchema.text(offline) }

    private static func text(_ name: String) -> OutputSchema.Output {
        OutputSchema.output(name, "The text that the command prints.", TextOutput.self)
    }
}
