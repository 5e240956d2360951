import Operator
import Testing

/// A viewer reads no token, key or secret, whichever operation is added.
@Suite("Roles for secrets") struct SecretRoleTests {
    /// A field of an answer or of a line, with its path.
    private struct Leaf {
        var path: String
        var field: FieldDescription
    }

    /// Returns all fields that an operation answers with, nested ones included.
    private static func leaves(_ fields: [FieldDescription], _ place: String = "") -> [Leaf] {
        fields.flatMap { field -> [Leaf] in
            let path = place + field.name
            return [Leaf(path: path, field: field)] + leaves(inside: field.form, path)
        }
    }

    private static func leaves(inside form: ValueForm, _ path: String) -> [Leaf] {
        switch form {
        case .record(let inner): leaves(inner, path + ".")
        case .list(let element): leaves(inside: element, path + "[]")
        default: []
        }
    }

    private static func leaves(of operation: any OperatorCommand.Type) -> [Leaf] {
        leaves(operation.definition.answer)
            + operation.definition.lines.flatMap { leaves($0.fields, $0.name + ".") }
    }

    /// Whether values of a form may be any text, so that one may be a secret.
    private static func isText(_ form: ValueForm) -> Bool {
        switch form {
        case .text, .named, .object: true
        case .list(let element): isText(element)
        default: false
        }
    }

    /// Text fields whose names or descriptions sound like secrets, and which are none, each with the reason.
    private static let harmless: [String: String] = [
        "certificate": "the certificate of the authority, which clients are given",
        "keys[].key": "the name of a config key", "keys[].default": "the default of a config key",
        "findings[].key": "the name of a config key", "unreadable": "the keys of rows of the store",
        "accounts[].key_id": "the ID of a public key, as in key files",
        "credentials[].team_id": "an ID, which Apple shows",
        "credentials[].key_id": "an ID, which Apple shows",
        "credential.team_id": "an ID, which Apple shows", "credential.key_id": "an ID, which Apple shows",
        "changed": "names of config keys", "needs_restart": "names of config keys",
        "key_id": "the ID of a public key, as in key files", "fingerprint": "a digest of what is public",
        "messages[].collapse_key": "a name that app servers choose",
        "installation": "the ID of an installation, not its token",
    ]

    /// Whether a text field may be a secret by its name or description.
    private static func soundsSecret(_ leaf: Leaf) -> Bool {
        let words = (leaf.field.name + " " + leaf.field.documentation).lowercased()
        return isText(leaf.field.form) && harmless[leaf.path] == nil
            && ["token", "secret", "password", "key"].contains { words.contains($0) }
    }

    @Test("a viewer reads no token, key or secret", arguments: Operations.all)
    func viewers(operation: any OperatorCommand.Type) {
        guard operation.definition.summary.role == .viewer else { return }
        for leaf in Self.leaves(of: operation) {
            #expect(!leaf.field.isSecret, "\(operation.summary.name): a viewer can read \(leaf.path)")
        }
    }

    @Test(
        "a field of an answer that may be a token, key or secret is declared as one, or known as harmless",
        arguments: Operations.all)
    func declared(operation: any OperatorCommand.Type) {
        for leaf in Self.leaves(of: operation) where !leaf.field.isSecret {
            #expect(
                !Self.soundsSecret(leaf),
                "\(operation.summary.name): declare \(leaf.path) as .secret, or list why it is harmless")
        }
    }

    @Test("canary: secrets are found in nested records, in lists and in the texts of fields")
    func canary() throws {
        let secrets = Operations.all.filter { operation in
            Self.leaves(of: operation).contains { $0.field.isSecret }
        }
        let known: [any OperatorCommand.Type] = [
            ShowDevice.self, ListAPNsFeedback.self, AddOperator.self, AddSender.self, RotateKey.self,
            RotateWebhookSecret.self, ListVirtualDevices.self,
        ]
        for operation in known {
            #expect(secrets.contains { $0 == operation }, "\(operation.summary.name)")
        }
        let rows = Self.leaves(of: ListAPNsFeedback.self).filter { $0.field.isSecret }.map(\.path)
        #expect(rows == ["items[].registration_id", "items[].apns_token"])
        let text = try #require(Self.leaves(of: CheckHealth.self).first { Self.isText($0.field.form) })
        #expect(!Self.soundsSecret(text))
    }
}
