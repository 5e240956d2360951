import Basics
import Catalogue
import Client
import Glibc
import Operator

/// Asks before a command destroys something.
enum Confirmation {
    /// Throws unless the command destroys nothing, `--yes` is given, or the user of the terminal agrees.
    static func require(_ command: any OperatorCommand, _ invocation: Invocation) throws(Failure) {
        guard let consequence = command.consequence, !invocation.has("--yes") else { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw Failure(
                .usage,
                "\(type(of: command).summary.name) needs a confirmation, and standard input is not a terminal",
                hint: "\(consequence) To do it without a question, give --yes")
        }
        Output.printError(consequence)
        DescriptorOutput.write("Continue? [y/N] ", to: STDERR_FILENO)
        guard isYes(readLine()) else {
            throw Failure(.failure, "cancelled: nothing was changed", hint: "answer y, or give --yes")
        }
    }

    /// Whether a line agrees; the end of the input does not.
    static func isYes(_ line: String?) -> Bool {
        let word = line?.split(separator: " ").first?.lowercased()
        return word == "y" || word == "yes"
    }
}
