import FuzzTargets
import Glibc

/// The target that the environment variable CCS_FUZZ_TARGET names.
private let chosen: FuzzTarget = {
    guard let name = getenv("CCS_FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name))
    else {
        fatalError("CCS_FUZZ_TARGET must be one of \(FuzzTarget.allCases.map(\.rawValue))")
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
