import Basics
import Catalogue
import Client
import Operator
import Wire

/// What a command line asks the daemon for.
enum CommandArguments {
    /// The request of an invocation. What the tool reads from files is filled in; of a service account `ServiceAccountFile` does that.
    static func request(_ name: OperationName, for invocation: Invocation) throws(Failure) -> OperatorRequest
    {
        let given = object(name, for: invocation)
        let request: OperatorRequest
        do throws(FieldProblem) { request = try OperatorRequest(name, arguments: given) } catch {
            throw Failure(.usage, error.text, hint: error.hint)
        }
        switch request {
        case .sendMessage(var command):
            let pairs = try pairs(invocation)
            // The server says what the two together are; without pairs there is only the one.
            if command.rawData == nil || !pairs.isEmpty { command.data = pairs }
            return .sendMessage(command)
        case .addSender(var command):
            command.key = try KeyInput.key(invocation)
            return .addSender(command)
        case .rotateKey(var command):
            command.key = try KeyInput.key(invocation)
            return .rotateKey(command)
        case .reloadConfiguration: return .reloadConfiguration(try reload(invocation))
        default: return request
        }
    }

    /// The arguments and options of an invocation that are fields of its operation.
    static func object(_ name: OperationName, for invocation: Invocation) -> JSONValue {
        let form = name.form
        var members: [JSONValue.Member] = []
        for (field, text) in zip(form.positions, invocation.arguments) {
            members.append(.init(field, .string(text)))
        }
        for (field, flag) in form.flags {
            if let text = invocation.text(flag) { members.append(.init(field, .string(text))) }
        }
        return .object(members)
    }

    /// The certificate and key to use in the place of the configured files, if they are named.
    private static func reload(_ invocation: Invocation) throws(Failure) -> ReloadConfiguration {
        let paths = (invocation.text("--certificate"), invocation.text("--private-key"))
        guard paths.0 != nil || paths.1 != nil else { return ReloadConfiguration() }
        guard let certificate = paths.0, let key = paths.1 else {
            throw Failure(
                .usage, "--certificate and --private-key belong together", hint: "give both, or neither")
        }
        return ReloadConfiguration(
            certificate: try TextFile.read(certificate, limit: Limits.Operator.fileBytes).revealed,
            privateKey: try TextFile.read(key, limit: Limits.Operator.fileBytes),
            // For errors alone: the daemon may be unable to read them.
            certificateFile: certificate, privateKeyFile: key)
    }

    /// The payload of a message: what follows the sender and the token.
    private static func pairs(_ invocation: Invocation) throws(Failure) -> [JSONValue.Member] {
        var pairs: [JSONValue.Member] = []
        for argument in invocation.arguments.dropFirst(OperationName.sendMessage.form.positions.count) {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw Failure(
                    .usage, "\"\(argument)\" is no pair",
                    hint: "write KEY=VALUE, in quotes where it has blanks")
            }
            guard !pairs.contains(where: { $0.key == parts[0] }) else {
                throw Failure(.usage, "\(parts[0]) is given twice", hint: "a payload has each key once")
            }
            pairs.append(.init(String(parts[0]), .string(String(parts[1]))))
        }
        return pairs
    }
}
