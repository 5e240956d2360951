import Basics
import Operator
import Testing
import Wire

/// Each operation has one method and path, derived from its name, by which a request finds it with all of its arguments.
@Suite("Routes of the operator API") struct OperatorRouteTests {
    @Test("the paths of operations follow the rules that the documents have")
    func paths() {
        func shown(_ name: OperationName) -> String {
            let route = OperatorRoute(name.definition)
            return "\(route.method.rawValue) \(route.path.dropFirst(OperatorRoute.prefix.count))"
        }
        #expect(shown(.showStatus) == "GET /status")
        #expect(shown(.reloadConfiguration) == "POST /reload")
        #expect(shown(.listSenders) == "GET /senders")
        #expect(shown(.addSender) == "POST /senders")
        #expect(shown(.removeSender) == "DELETE /senders/{sender_id}")
        #expect(shown(.rotateKey) == "POST /senders/{sender_id}/rotate-key")
        #expect(shown(.senderStats) == "GET /senders/stats")
        #expect(shown(.showDevice) == "GET /devices/{device}")
        #expect(shown(.traceDevice) == "GET /devices/{device}/trace")
        #expect(shown(.forgetDevice) == "DELETE /devices/{device}")
        #expect(shown(.addAccount) == "POST /service-accounts")
        #expect(shown(.removeAccount) == "DELETE /service-accounts/{sender_id}/{key_id}")
        #expect(shown(.listAPNsFeedback) == "GET /apns/feedback")
        #expect(shown(.removeOperator) == "DELETE /operators/{name}")
    }

    @Test("no two operations have the same method and path, and none has that of another page")
    func unique() {
        let routes = OperatorRoute.all.map { "\($0.method.rawValue) \($0.path)" }
        #expect(Set(routes).count == OperationName.allCases.count)
        #expect(
            APITarget.Page.allCases.allSatisfy { page in
                !OperatorRoute.all.contains { $0.path == page.rawValue }
            })
    }

    @Test("operations that only read are GET, and no other one is", arguments: OperationName.allCases)
    func methods(name: OperationName) {
        let route = OperatorRoute(name.definition)
        #expect((route.method == .get) != name.definition.summary.isChanging)
        guard route.method != .post else { return }
        for field in route.otherFields {
            switch field.form {
            case .record, .list, .object:
                Issue.record("\(name.rawValue): \(field.name) does not fit into a query")
            case .boolean, .integer, .text, .word, .number, .named, .time: break
            }
        }
    }

    @Test(
        "a request finds its operation with the arguments of the command", arguments: OperationName.allCases)
    func calls(name: OperationName) throws {
        for arguments in Samples.sample(of: name).arguments {
            let sent = try OperatorRequest(name, arguments: arguments)
            let call = Self.call(sent.command)
            guard case .operation(let route, let found) = try APITarget(try APIRequests.request(call)) else {
                Issue.record("\(call.method) \(call.path) is no operation")
                continue
            }
            #expect(route.operation.summary.name == name, "\(call.method) \(call.path)")
            #expect(try OperatorRequest(name, arguments: found).command.json == sent.command.json)
        }
    }

    private static func call(_ command: some OperatorCommand) -> HTTPCall { OperatorRoute.call(command) }

    @Test("an argument in a path may have slashes, blanks and any other character")
    func escapes() throws {
        let name = "a/b c%+?#ä"
        let call = OperatorRoute.call(ShowDevice(device: .token(Redacted(name))))
        #expect(call.path == "/operator/v1/devices/a%2fb%20c%25%2b%3f%23%c3%a4")
        guard case .operation(_, let found) = try APITarget(try APIRequests.request(call)) else {
            throw APIProblem(.notFound, "no operation")
        }
        #expect(found == ["device": .string(name)])
    }

    @Test("a word in a path takes precedence over a field")
    func precedence() throws {
        func name(_ path: String) throws -> OperationName? {
            guard case .operation(let route, _) = try APITarget(try APIRequests.request("GET", path)) else {
                return nil
            }
            return route.operation.summary.name
        }
        #expect(try name("/operator/v1/apns/feedback") == .listAPNsFeedback)
        #expect(try name("/operator/v1/apns/feedbacks") == .showAPNsCredential)
    }
}
