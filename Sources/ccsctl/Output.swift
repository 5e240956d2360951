import Basics
import Catalogue
import Glibc
import Operator
import Wire

/// The output of the tool: results on standard output, errors on standard error.
enum Output {
    /// Writes text to standard output.
    static func write(_ text: String) { DescriptorOutput.write(text, to: STDOUT_FILENO) }

    /// Writes a value as one line of JSON to standard output.
    static func write(_ value: JSONValue) { write(value.compact + "\n") }

    /// Reports a failure on standard error, and with `--json` also as an object on standard output. Returns the exit code.
    static func fail(_ code: ExitCode, _ problem: String, hint: String, isJSON: Bool) -> ExitCode {
        printError("ccsctl: \(problem)")
        if !hint.isEmpty { printError(hint) }
        if isJSON {
            write(ErrorOutput(error: problem, hint: hint, exitCode: Int(code.rawValue)).json)
        }
        return code
    }

    /// Writes one line to standard error.
    static func printError(_ line: String) { DescriptorOutput.write(line + "\n", to: STDERR_FILENO) }
}
