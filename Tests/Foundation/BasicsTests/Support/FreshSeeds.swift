import Glibc

/// The seeds of simulated worlds: each run draws others, since repeating those that have passed finds nothing.
public enum FreshSeeds {
    /// Draws seeds that follow each other, and prints the first, by which a run is repeated.
    ///
    /// The environment variable `CCS_SEED` sets the first seed, the one called `number` how many there are in place of `usual`.
    public static func draw(
        _ usual: UInt64, number: String = "CCS_SEEDS", for file: StaticString = #fileID
    ) -> Range<UInt64> {
        let first = variable("CCS_SEED") ?? UInt64.random(in: 0..<1 << 40)
        let count = variable(number) ?? usual
        print("seeds: \(file): \(count) from CCS_SEED=\(first)")
        return first..<first + count
    }

    private static func variable(_ name: String) -> UInt64? {
        getenv(name).flatMap { UInt64(String(cString: $0)) }
    }
}
