import Store

/// Runs a call as a release build does, where a broken invariant throws instead of ending the process.
func released<Result>(_ body: () throws -> Result) rethrows -> Result {
    try StoreInvariants.$trapsWhenBroken.withValue(false, operation: body)
}

/// The broken invariant that such a call throws. Returns `nil` if it succeeds.
func brokenInvariant(_ body: () throws -> Void) -> StoreError? {
    do {
        try released(body)
    } catch let error as StoreError where error.kind.isInvariant {
        return error
    } catch {}
    return nil
}
