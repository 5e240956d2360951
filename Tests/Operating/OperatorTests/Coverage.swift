import Operator
import Wire

/// Finds operations and fields that the samples leave out.
enum Coverage {
    /// Returns a line for each operation without a sample, and for each field that is in no sample of its operation.
    static func gaps(in samples: [String: Sample]) -> [String] {
        Operations.all.flatMap { operation -> [String] in
            guard let sample = samples[operation.summary.name] else {
                return ["\(operation.summary.name) has no sample"]
            }
            let definition = operation.definition
            var gaps = absent(definition.arguments, in: sample.arguments, "argument ")
            gaps += absent(definition.answer, in: sample.answers, "answer ")
            for line in definition.lines {
                let lines = sample.lines.filter { $0.name == line.name }.map(\.json)
                gaps +=
                    lines.isEmpty ? ["line \(line.name)"] : absent(line.fields, in: lines, "\(line.name) ")
            }
            return gaps.map { "\(operation.summary.name): \($0) is in no sample" }
        }
    }

    /// Returns the fields that have no value in any of the objects, including nested fields.
    private static func absent(
        _ fields: [FieldDescription], in objects: [JSONValue], _ place: String
    ) -> [String] {
        fields.flatMap { field -> [String] in
            let values = objects.compactMap { $0[field.name] }.filter { $0 != .null }
            guard !values.isEmpty else { return ["\(place)\(field.name)"] }
            switch field.form {
            case .record(let inner): return absent(inner, in: values, "\(place)\(field.name).")
            case .list(.record(let inner)):
                return absent(inner, in: values.flatMap { $0.elements ?? [] }, "\(place)\(field.name)[].")
            default: return []
            }
        }
    }
}
