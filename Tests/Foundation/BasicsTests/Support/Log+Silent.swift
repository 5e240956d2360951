public import Basics

extension Log {
    /// A log without output.
    public static var silent: Log { Log(level: .error, write: { _ in }) }
}
