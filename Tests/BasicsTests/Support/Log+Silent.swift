public import Basics

extension Log {
    /// A log that writes nothing.
    public static var silent: Log { Log(level: .error, write: { _ in }) }
}
