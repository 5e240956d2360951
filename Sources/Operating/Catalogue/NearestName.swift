/// Finds the valid name that was most likely meant by a mistyped one.
public enum NearestName {
    /// Returns the nearest of `names` within a third of its length in changes (one to three), or the first that `wrong` begins.
    public static func of(_ wrong: String, among names: [String]) -> String? {
        let wrong = Array(wrong.lowercased().utf8.prefix(64))
        var best: (name: String, distance: Int)?
        for name in names {
            let distance = distance(wrong, Array(name.utf8))
            let enough = max(1, min(3, name.utf8.count / 3))
            if distance <= enough, distance < best?.distance ?? .max { best = (name, distance) }
        }
        return best?.name
            ?? names.first { name in
                wrong.count >= 3 && name.utf8.starts(with: wrong)
            }
    }

    /// The Damerau-Levenshtein distance: insertions, deletions, changes and swaps of neighbours.
    static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        if a.isEmpty || b.isEmpty { return a.count + b.count }
        var before: [Int] = []
        var above = Array(0...b.count)
        for i in 1...a.count {
            var row = [i]
            for j in 1...b.count {
                let change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
                var least = min(change, above[j] + 1, row[j - 1] + 1)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    least = min(least, before[j - 2] + 1)
                }
                row.append(least)
            }
            before = above
            above = row
        }
        return above[b.count]
    }
}
