import Basics
import Catalogue
import Client
import Glibc
import Operator
import Wire

/// The output of the tool: results on standard output, errors on standard error.
///
/// Whatever a server answers, no character of it controls the terminal; this is the last place that all text passes.
enum Output {
    /// Writes text to standard output.
    static func write(_ text: String) { StandardOutput.write(Printable.lines(text)) }

    /// Writes a value as one line of JSON to standard output.
    static func write(_ value: JSONValue) { StandardOutput.write(Printable.json(value.compact) + "\n") }

    /// Writes the result of a command that needs no daemon, as JSON or as text, or reports its failure. Returns the exit code.
    static func report(
        isJSON: Bool, _ command: () throws(Failure) -> (json: JSONValue, text: String)
    ) -> ExitCode {
        do throws(Failure) {
            let result = try command()
            if isJSON { write(result.json) } else { write(result.text) }
            return .success
        } catch {
            return fail(
                ExitCode(rawValue: error.code.rawValue) ?? .failure, error.problem, hint: error.hint,
                isJSON: isJSON)
        }
    }

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
    static func printError(_ line: String) {
        DescriptorOutput.write(Printable.lines(line) + "\n", to: STDERR_FILENO)
    }
}
