public import Wire

/// Checks a value against the part of JSON Schema that the schemas of outputs use. Any other keyword is a violation.
public enum SchemaCheck {
    /// Returns the violations of a schema, each with its path. A property that the schema does not name is one too, unless
    /// `allowsOthers`.
    public static func violations(
        of schema: JSONValue, in value: JSONValue, at path: String = "", allowsOthers: Bool = false
    ) -> [String] {
        var found: [String] = []
        for keyword in schema.members ?? [] {
            switch keyword.key {
            case "description", "$schema", "$id", "version", "title": break
            case "type": found += type(keyword.value, value, path)
            case "enum":
                let words = keyword.value.elements ?? []
                if !words.contains(value) { found.append("\(path): \(value.compact) is none of the words") }
            case "minimum":
                if let number = value.integer, number < keyword.value.integer ?? .max {
                    found.append("\(path): \(number) is too small")
                }
            case "maximum":
                if let number = value.integer, number > keyword.value.integer ?? .min {
                    found.append("\(path): \(number) is too large")
                }
            case "pattern":
                let isNumber = value.text?.utf8.allSatisfy { (0x30...0x39).contains($0) } ?? true
                if keyword.value != "^[0-9]+$" || !isNumber || value.text == "" {
                    found.append("\(path): \(value.compact) does not match")
                }
            case "format":
                let isTime =
                    value.text.map { $0.count == 24 && $0.hasSuffix("Z") && $0.contains("T") } ?? true
                if keyword.value != "date-time" || !isTime { found.append("\(path): no time") }
            case "items":
                for (place, element) in (value.elements ?? []).enumerated() {
                    found += violations(
                        of: keyword.value, in: element, at: "\(path)[\(place)]", allowsOthers: allowsOthers)
                }
            case "properties":
                for member in value.members ?? [] {
                    guard let inner = keyword.value[member.key] else {
                        if !allowsOthers { found.append("\(path).\(member.key): not in the schema") }
                        continue
                    }
                    found += violations(
                        of: inner, in: member.value, at: "\(path).\(member.key)", allowsOthers: allowsOthers)
                }
            case "required":
                guard value.members != nil else { break }
                for name in keyword.value.elements?.compactMap(\.text) ?? [] where value[name] == nil {
                    found.append("\(path).\(name): missing")
                }
            default: found.append("\(path): unknown keyword \(keyword.key)")
            }
        }
        return found
    }

    private static func type(_ wanted: JSONValue, _ value: JSONValue, _ path: String) -> [String] {
        let names = wanted.elements?.compactMap(\.text) ?? [wanted.text ?? ""]
        let own =
            switch value {
            case .null: "null"
            case .boolean: "boolean"
            case .integer: "integer"
            case .number: "number"
            case .string: "string"
            case .array: "array"
            case .object: "object"
            }
        return names.contains(own) ? [] : ["\(path): \(own) instead of \(names.joined(separator: " or "))"]
    }
}
