import Basics
import Glibc

/// What the tool says: results to standard output, complaints to standard error.
enum Output {
    /// Writes text as it is.
    static func write(_ text: String) { DescriptorOutput.write(text, to: STDOUT_FILENO) }

    /// Writes one line to standard error.
    static func complain(_ line: String) { DescriptorOutput.write(line + "\n", to: STDERR_FILENO) }
}
