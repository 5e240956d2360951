/// Lays out text in columns.
enum TextTable {
    /// Returns rows under their titles, each column as wide as its widest cell, and numbers aligned right.
    static func text(_ titles: [String], _ rows: [[String]]) -> String {
        var widths = titles.map(\.count)
        for row in rows {
            for (column, cell) in row.enumerated() where column < widths.count {
                widths[column] = max(widths[column], cell.count)
            }
        }
        let isNumeric = titles.indices.map { column in
            !rows.isEmpty
                && rows.allSatisfy {
                    $0[column].utf8.allSatisfy { (0x30...0x39).contains($0) } && $0[column].count < 10
                }
        }
        return ([titles] + rows).map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let blanks = String(repeating: " ", count: widths[column] - cell.count)
                line += (column == 0 ? "" : "  ") + (isNumeric[column] ? blanks + cell : cell + blanks)
            }
            while line.hasSuffix(" ") { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
