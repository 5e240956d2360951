import Basics
import Testing
import Wire

@testable import Operator

/// Each operation has one method and path, derived from its name, by which a request finds it with all of its arguments.
@Suite("Routes of the operator API") struct OperatorRouteTests {
    @Test("the paths of operations follow the rules that the documents have")
    func paths() {
        func shown(_ operation: any OperatorCommand.Type) -> String {
            let route = OperatorRoute(operation.definition)
            return "\(route.method.rawValue) \(route.path.dropFirst(OperatorRoute.prefix.count))"
        }
        #expect(shown(ShowStatus.self) == "GET /status")
        #expect(shown(ReloadConfiguration.self) == "POST /reload")
        #expect(shown(ListSenders.self) == "GET /senders")
        #expect(shown(AddSender.self) == "POST /senders")
        #expect(shown(RemoveSender.self) == "DELETE /senders/{sender_id}")
        #expect(shown(RotateKey.self) == "POST /senders/{sender_id}/rotate-key")
        #expect(shown(SenderStatistics.self) == "GET /senders/stats")
        #expect(shown(ShowDevice.self) == "GET /devices/{device}")
        #expect(shown(TraceDevice.self) == "GET /devices/{device}/trace")
        #expect(shown(ForgetDevice.self) == "DELETE /devices/{device}")
        #expect(shown(CancelMessages.self) == "POST /messages/{device}/{message_id}/cancel")
        #expect(shown(AddAccount.self) == "POST /service-accounts")
        #expect(shown(RemoveAccount.self) == "DELETE /service-accounts/{sender_id}/{key_id}")
        #expect(shown(ListAPNsFeedback.self) == "GET /apns/feedback")
        #expect(shown(RemoveOperator.self) == "DELETE /operators/{name}")
    }

    @Test("no two operations have the same method and path, and none has that of another page")
    func unique() {
        let routes = OperatorRoute.all.map { "\($0.method.rawValue) \($0.path)" }
        #expect(Set(routes).count == Operations.all.count)
        #expect(
            APITarget.Page.allCases.allSatisfy { page in
                !OperatorRoute.all.contains { $0.path == page.rawValue }
            })
    }

    @Test("operations that only read are GET, and no other one is", arguments: Operations.all)
    func methods(operation: any OperatorCommand.Type) {
        let route = OperatorRoute(operation.definition)
        #expect((route.method == .get) != operation.definition.summary.isChanging)
        guard route.method != .post else { return }
        for field in route.otherFields {
            switch field.form {
            case .record, .list, .object:
                Issue.record("\(operation.summary.name): \(field.name) does not fit into a query")
            case .boolean, .integer, .text, .word, .number, .named, .time: break
            }
        }
    }

    @Test(
        "a request finds its operation with the arguments of the command", arguments: Operations.all)
    func calls(operation: any OperatorCommand.Type) throws {
        for arguments in Samples.sample(of: operation).arguments {
            let sent = try operation.init(arguments: arguments)
            let call = Self.call(sent)
            guard case .operation(let route, let found) = try APITarget(try APIRequests.request(call)) else {
                Issue.record("\(call.method) \(call.path) is no operation")
                continue
            }
            #expect(route.operation.summary.name == operation.summary.name, "\(call.method) \(call.path)")
            #expect(try operation.init(arguments: found).json == sent.json)
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
        func operation(_ path: String) throws -> (any OperatorCommand.Type)? {
            guard case .operation(let route, _) = try APITarget(try APIRequests.request("GET", path)) else {
                return nil
            }
            return route.operation.command
        }
        #expect(try operation("/operator/v1/apns/feedback") is ListAPNsFeedback.Type)
        #expect(try operation("/operator/v1/apns/feedbacks") is ShowAPNsCredential.Type)
    }
}
