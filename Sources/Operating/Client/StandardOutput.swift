import Basics
import Glibc
import Synchronization

/// The standard output of a program. Text that could not be written is a failure of the program: a script that keeps it in a file would take
/// what is there for the whole.
public enum StandardOutput {
    /// The error number of the first write that failed, or 0.
    private static let error = Atomic<Int32>(0)

    /// Whether text was lost. A program that would go on for long ends.
    public static var hasFailed: Bool { error.load(ordering: .relaxed) != 0 }

    /// Occupies the standard streams that the caller has closed: the next file or connection would be one of them, and get what is printed.
    /// Reading and writing still fail, as each is opened for the other direction.
    public static func begin() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes text. A reader that has gone has seen what it wanted: that is no failure.
    public static func write(_ text: String) {
        let code = DescriptorOutput.write(text, to: STDOUT_FILENO)
        guard code != 0, code != EPIPE else { return }
        _ = error.compareExchange(expected: 0, desired: code, ordering: .relaxed)
    }

    /// Returns the exit code of a program that ends with a code, and reports lost text on standard error; `margin` is before its second line. A
    /// failure with a code of its own keeps it.
    public static func end(_ code: Int32, of program: String, margin: String = "") -> Int32 {
        let error = error.load(ordering: .relaxed)
        guard error != 0 else { return code }
        let hint =
            "give it a place with free space, and ask again; what was done stays done, and a secret that is shown only once is lost: make a new one"
        DescriptorOutput.write(
            "\(program): cannot write the output: \(unsafe String(cString: strerror(error)))\n\(margin)\(hint)\n",
            to: STDERR_FILENO)
        return [0, Failure.Code.failure.rawValue].contains(code) ? Failure.Code.inputOutput.rawValue : code
    }
}
