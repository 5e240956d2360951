import FuzzTargets
import Glibc

/// The target, from the environment variable CCS_FUZZ_TARGET.
private let chosen: FuzzTarget = {
    guard let name = getenv("CCS_FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name))
    else {
        fatalError("invalid CCS_FUZZ_TARGET: expected one of \(FuzzTarget.allCases.map(\.rawValue))")
    }
    return target
}()

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try chosen.run(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
        fatalError("\(chosen.rawValue): \(error)")
    }
    return 0
}
