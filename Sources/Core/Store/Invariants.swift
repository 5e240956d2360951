/// The always-on checks of the store: conditions that only a fault of the server itself can break. They run in release builds too.
///
/// A failed check throws a `StoreError` of kind `invariant`. A batch is then refused, or a load fails; nothing is applied and
/// nothing is acknowledged. The caller of the store logs and counts the failure. In debug builds a failed check ends the process.
///
/// A check compares a few integers and allocates nothing while it holds.
public enum StoreInvariants {
    /// Whether a failed check ends the process. Tests that break an invariant on purpose set it to `false` around the call.
    @TaskLocal public static var trapsWhenBroken = isDebugBuild

    private static var isDebugBuild: Bool {
        #if DEBUG
            true
        #else
            false
        #endif
    }
}

/// Throws `StoreError.Kind.invariant` if a condition does not hold.
///
/// `owner` names the device, the sender, the partition or the file that the condition is about.
@inlinable @inline(__always)
public func demand(
    _ holds: Bool, _ problem: StaticString, _ owner: @autoclosure () -> String = ""
) throws(StoreError) {
    if !holds { throw StoreError(broken: problem, owner()) }
}

/// Returns a value that must be present. Throws `StoreError.Kind.invariant` if it is absent.
@inlinable @inline(__always)
public func demand<Value>(
    _ value: Value?, _ problem: StaticString, _ owner: @autoclosure () -> String = ""
) throws(StoreError) -> Value {
    guard let value else { throw StoreError(broken: problem, owner()) }
    return value
}

extension StoreError {
    /// The failure for a broken invariant. Ends the process where `StoreInvariants.trapsWhenBroken` is set.
    @inline(never)
    public init(broken problem: StaticString, _ owner: String) {
        precondition(!StoreInvariants.trapsWhenBroken, "\(problem) (\(owner))")
        self.init(.invariant, "\(problem)")
        self.owner = owner
    }

    /// The same failure where it was found after the commit had been written: the caller must not write the batches again.
    public var afterWrite: StoreError {
        guard kind == .invariant else { return self }
        var error = self
        error.kind = .inconsistent
        return error
    }
}
