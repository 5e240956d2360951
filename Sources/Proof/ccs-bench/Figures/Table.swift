/// Formats tables.
enum Table {
    /// Returns rows in columns, the head first: text aligned to the left in the first column, numbers to the right in the
    /// others, and the last column unpadded if it is text.
    static func text(_ rows: [[String]], lastIsWords: Bool) -> String {
        guard let head = rows.first else { return "" }
        let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).enumerated().map { column, cell in
                if column == 0 { return Figure.pad(cell.0, cell.1) }
                return lastIsWords && column == head.count - 1 ? cell.0 : Figure.padLeft(cell.0, cell.1)
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
