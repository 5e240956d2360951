import Basics
import Operator
import Testing
import Wire

@Suite("kinds of exported lines, and the description of the API")
struct ExportLimitTests {
    @Test("the arguments of a POST are described as its body, and those of others as its query")
    func openAPI() throws {
        let paths = try #require(OperatorOpenAPI.document(version: "1")["paths"])
        let add = try #require(paths["/operator/v1/senders"]?["post"])
        #expect(add["requestBody"] != nil && add["parameters"] == nil)
        let list = try #require(paths["/operator/v1/devices"]?["get"])
        #expect(list["requestBody"] == nil)
        #expect(
            list["parameters"]?.elements?.contains { $0["in"] == "query" && $0["name"] == "limit" } == true)
        let show = try #require(paths["/operator/v1/devices/{device}"]?["get"])
        #expect(show["parameters"]?.elements?.map { $0["in"] } == ["path"])
    }

    @Test("each row of an export has its kind")
    func kinds() throws {
        func kind(_ json: JSONValue) -> String {
            do throws(FieldProblem) { return "\(try ExportedRow.kind(of: json))" } catch { return "\(error)" }
        }
        #expect(try ExportedRow.kind(of: ["kind": "device"]) == .device)
        #expect(kind([:]).contains("kind") && kind(["kind": 5]).contains("one of header, secret"))
        #expect(kind(["kind": "devices"]).contains("devices"))
    }
}
