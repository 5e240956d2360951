import Operator
import Testing
import Wire
import WireSupport

/// The JSON Schema of answers fits what is encoded.
@Suite("Output schema") struct OutputSchemaTests {
    private static let definitions = OutputSchema.document([])["$defs"] ?? .null

    @Test("every sample answer and every line fits its schema", arguments: Operations.all)
    func samples(operation: any OperatorCommand.Type) throws {
        let schema = try #require(Self.definitions[operation.summary.name])
        let sample = Samples.sample(of: operation)
        for answer in sample.answers {
            var answer = answer
            // The tool adds the file that it writes.
            if operation is AddAccount.Type {
                answer = .object((answer.members ?? []) + [.init("file", "/key.json")])
            }
            #expect(SchemaCheck.violations(of: schema, in: answer) == [])
        }
        for (line, json) in sample.lines {
            let schema = try #require(Self.definitions["\(operation.summary.name): \(line)"])
            #expect(SchemaCheck.violations(of: schema, in: .object([.init(line, json)])) == [])
        }
    }

    @Test("a single schema is a document with the version, and no other name has one")
    func single() throws {
        let document = try #require(OutputSchema.document(of: "senders list", []))
        #expect(document["version"]?.integer == OutputSchema.version)
        #expect(document["$schema"]?.text?.contains("2020-12") == true && document["properties"] != nil)
        #expect(OutputSchema.document(of: "senders", []) == nil)
        #expect(OutputSchema.document(of: "error", []) != nil)
    }

    @Test(
        "canary: a wrong type, a missing or unknown property, a wrong word and a wrong number are violations")
    func canary() throws {
        let schema = try #require(Self.definitions["senders suspend"])
        func violations(_ value: JSONValue) -> Int { SchemaCheck.violations(of: schema, in: value).count }
        #expect(violations(["sender_id": "5", "suspended": true, "changed": true]) == 0)
        #expect(violations(["sender_id": "5", "suspended": "yes", "changed": true]) == 1)
        #expect(violations(["sender_id": "x", "suspended": true, "changed": true]) == 1)
        #expect(violations(["sender_id": "5", "suspended": true]) == 1)
        #expect(violations(["sender_id": "5", "suspended": true, "changed": true, "surprise": 1]) == 1)
        #expect(violations([]) == 1)
        let level = try #require(Self.definitions["log level"])
        #expect(SchemaCheck.violations(of: level, in: ["level": "loud", "configured": "info"]).count == 1)
        let error = try #require(Self.definitions["error"])
        #expect(
            SchemaCheck.violations(of: error, in: ["error": "x", "hint": "", "exit_code": 0]).count == 1)
    }
}
