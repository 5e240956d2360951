import Basics
public import Wire

extension JSONValue {
    /// Parses a document.
    public init(parsing text: String) throws(JSONError) {
        try self.init(parsing: Array(text.utf8).raw)
    }
}
