import Glibc

/// A plot as SVG, with a linear x axis and a logarithmic y axis.
struct Plot {
    /// Points joined by a line.
    struct Series {
        let name: String
        let points: [(x: Double, y: Double)]

        /// Creates a series; points are joined in order.
        init(_ name: String, _ points: [(x: Double, y: Double)]) {
            self.name = name
            self.points = points
        }
    }

    let title: String
    let x: String
    let y: String
    let series: [Series]

    private static let width = 800.0
    private static let height = 480.0
    private static let left = 90.0
    private static let right = 110.0
    private static let top = 50.0
    private static let bottom = 70.0
    private static let colours = [
        "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#e377c2", "#17becf", "#bcbd22",
        "#7f7f7f", "#000000",
    ]

    /// The end of the x axis: a round number that no point exceeds.
    var xEnd: Double { Self.roundUp(points.map(\.x).max() ?? 1) }

    /// The powers of ten that enclose all points.
    var decades: ClosedRange<Int> {
        let values = points.map(\.y).filter { $0 > 0 }
        let low = Int(log10(values.min() ?? 1).rounded(.down))
        let high = Int(log10(values.max() ?? 10).rounded(.up))
        return low...max(high, low + 1)
    }

    private var points: [(x: Double, y: Double)] { series.flatMap(\.points) }

    /// Returns the smallest of 1, 2 and 5 times a power of ten that is at least `value`; 1 if it is not positive.
    static func roundUp(_ value: Double) -> Double {
        guard value > 0 else { return 1 }
        let power = pow(10, log10(value).rounded(.down))
        return ([1, 2, 5, 10].first { $0 * power >= value * 0.999_999 } ?? 10) * power
    }

    /// Returns the position of a point in the picture; values that are not positive are drawn on the x axis.
    func place(_ point: (x: Double, y: Double)) -> (x: Double, y: Double) {
        let decades = decades
        let share = point.x / xEnd
        let level = point.y > 0 ? log10(point.y) : Double(decades.lowerBound)
        let rise = (level - Double(decades.lowerBound)) / Double(decades.count - 1)
        return (
            Self.left + share * (Self.width - Self.left - Self.right),
            Self.height - Self.bottom - rise * (Self.height - Self.top - Self.bottom)
        )
    }

    /// The picture as SVG text.
    var svg: String {
        var text =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(Int(Self.width))\" height=\"\(Int(Self.height))\" font-family=\"sans-serif\" font-size=\"13\">\n"
        text += "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        text += Self.label(title, Self.left, 28, "start", size: 16)
        text += grid
        text += Self.label(x, (Self.left + Self.width - Self.right) / 2, Self.height - 22, "middle")
        text +=
            "<text transform=\"translate(24 \(Int((Self.height - Self.bottom + Self.top) / 2))) rotate(-90)\" text-anchor=\"middle\">\(Self.escaped(y))</text>\n"
        for (at, one) in series.enumerated() { text += line(one, Self.colours[at % Self.colours.count]) }
        return text + "</svg>\n"
    }

    private var grid: String {
        var text = ""
        for decade in decades {
            let value = pow(10, Double(decade))
            let (left, y) = place((0, value))
            text += Self.rule(left, y, Self.width - Self.right, y)
            let word = decade >= 0 ? Figure.whole(value) : Figure.fixed(value, -decade)
            text += Self.label(word, left - 8, y + 4, "end")
        }
        for step in 0...5 {
            let value = xEnd * Double(step) / 5
            let (x, floor) = place((value, 0))
            text += Self.rule(x, Self.top, x, floor)
            text += Self.label(Figure.whole(value), x, floor + 20, "middle")
        }
        return text
    }

    private func line(_ series: Series, _ colour: String) -> String {
        let places = series.points.map(place)
        let list = places.map { "\(Figure.fixed($0.x, 1)),\(Figure.fixed($0.y, 1))" }.joined(separator: " ")
        var text =
            "<polyline points=\"\(list)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\"/>\n"
        for place in places {
            text +=
                "<circle cx=\"\(Figure.fixed(place.x, 1))\" cy=\"\(Figure.fixed(place.y, 1))\" r=\"3\" fill=\"\(colour)\"/>\n"
        }
        if let last = places.last {
            text += Self.label(series.name, last.x + 8, last.y + 4, "start", colour: colour)
        }
        return text
    }

    private static func rule(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> String {
        "<line x1=\"\(Figure.fixed(x1, 1))\" y1=\"\(Figure.fixed(y1, 1))\" x2=\"\(Figure.fixed(x2, 1))\" y2=\"\(Figure.fixed(y2, 1))\" stroke=\"#ccc\"/>\n"
    }

    private static func label(
        _ text: String, _ x: Double, _ y: Double, _ anchor: String, size: Int = 13, colour: String = "#333"
    ) -> String {
        "<text x=\"\(Figure.fixed(x, 1))\" y=\"\(Figure.fixed(y, 1))\" text-anchor=\"\(anchor)\" font-size=\"\(size)\" fill=\"\(colour)\">\(escaped(text))</text>\n"
    }

    private static func escaped(_ text: String) -> String {
        var out = ""
        for character in text {
            switch character {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            default: out.append(character)
            }
        }
        return out
    }
}
