import Glibc

/// The parsers that strangers feed, each with a property that must hold for any input.
enum FuzzEntry: String, CaseIterable {
    case xml
    case json
    case mcs
    case http1
    case http2

    /// The one asked for by the environment variable CCS_FUZZ_ENTRY; `xml` without it.
    static let chosen: FuzzEntry = {
        guard let name = getenv("CCS_FUZZ_ENTRY") else { return .xml }
        guard let entry = FuzzEntry(rawValue: String(cString: name)) else {
            fatalError("CCS_FUZZ_ENTRY must be one of \(allCases.map(\.rawValue))")
        }
        return entry
    }()

    /// Tries one input; traps if the property does not hold.
    func run(_ input: [UInt8]) {
        switch self {
        case .xml: fuzzXML(input)
        case .json: fuzzJSON(input)
        case .mcs: fuzzMCS(input)
        case .http1: fuzzHTTP1(input)
        case .http2: fuzzHTTP2(input)
        }
    }
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzEntry.chosen.run(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

/// Traps with a reason, which `precondition` leaves out of a release build.
func demand(_ holds: Bool, _ reason: String) {
    if !holds { fatalError(reason) }
}
