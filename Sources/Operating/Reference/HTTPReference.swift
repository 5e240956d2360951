import Sessions
import Wire

/// Prints the reference of the HTTP interface from the table of endpoints and the mapping of errors: docs/http.md.
public enum HTTPReference {
    /// Returns the reference in Markdown. `meaning` explains the word of a refusal.
    public static func text(meaning: (String) -> String) -> String {
        var text = """
            # HTTP

            Every request that ccsd answers on `https_port`, and on `admin_port` for the operator's tools. Printed by `ccsd reference http`.
            The complete description, with the schema of every body, is an OpenAPI 3.1 document for code generators and viewers: `/openapi.json`,
            or `ccsd openapi`.

            HTTP/1.1 and HTTP/2 over TLS; every path works under every host name. Host names in the tables are those that unmodified clients use,
            and which must therefore resolve to ccsd.

            ## Credentials

            | credential | where |
            |---|---|

            """
        for credential in HTTPCredential.allCases {
            text += "| \(credential.rawValue) | \(ErrorReference.cell(credential.place)) |\n"
        }
        let endpoints = HTTPEndpoint.services + HTTPEndpoint.administration
        for section in HTTPDescription.Section.allCases {
            let own = endpoints.filter { $0.action.description.section == section }
            text += "\n## \(section.rawValue.prefix(1).uppercased() + section.rawValue.dropFirst())\n\n"
            text += "\(section.summary)\n\n"
            text += grouped(own).map(operation).joined(separator: "\n")
        }
        let extensions = endpoints.filter { $0.action.description.atFCM != nil }.map { endpoint in
            "| `\(endpoint.method.rawValue) \(endpoint.path)` | \(endpoint.action.description.atFCM ?? "") |"
        }
        return text + """

            ## Extensions

            What FCM does not have. Clients that were written for FCM never use it, and it changes nothing for them.

            | operation | at FCM |
            |---|---|
            \(extensions.joined(separator: "\n"))

            ## Errors

            The refusal of a message. With legacy HTTP it is the `error` of a result, or follows `Error=` for a form; with HTTP v1 it is the status and
            the `errorCode` of an `FcmError` in the details. The reason is the word in log and metrics.

            \(ErrorReference.http(meaning: meaning))
            Statuses of requests that are refused as a whole: 400 for what cannot be parsed, 401 without valid credentials, 404 for an unknown path,
            405 for another method (`Allow` names the right ones), 408 for a body that arrives too slowly, 413 for one that is too large, 429 and
            503 to try again later, after `Retry-After` if it is given.

            """
    }

    /// Returns the endpoints with the same action together, in the order of the table.
    private static func grouped(_ endpoints: [HTTPEndpoint]) -> [[HTTPEndpoint]] {
        var groups: [[HTTPEndpoint]] = []
        for endpoint in endpoints {
            if let at = groups.firstIndex(where: { $0[0].action == endpoint.action }) {
                groups[at].append(endpoint)
            } else {
                groups.append([endpoint])
            }
        }
        return groups
    }

    /// Returns the paragraph of one operation with all its paths.
    private static func operation(_ endpoints: [HTTPEndpoint]) -> String {
        let description = endpoints[0].action.description
        var text = endpoints.map { "**`\($0.method.rawValue) \($0.path)`**" }.joined(separator: "<br>\n")
        text += "\n\n\(description.summary)\n\n"
        if !description.hosts.isEmpty {
            text += "- hosts: \(description.hosts.map { "`\($0)`" }.joined(separator: ", "))\n"
        }
        if let answer = description.atFCM { text += "- extension of ccsd: \(answer)\n" }
        if !description.credentials.isEmpty {
            text += "- credential: \(description.credentials.map(\.rawValue).joined(separator: " or "))"
            text += description.isOpen ? ", or none\n" : "\n"
        }
        for parameter in description.parameters {
            text +=
                "- \(parameter.location.rawValue) `\(parameter.name)`\(parameter.isRequired ? "" : " (optional)"): "
            text += "\(parameter.meaning)\n"
        }
        for content in description.content {
            text += "- body \(content.type)\(description.mayBeEmpty ? " (optional)" : "")"
            let fields = fields(of: content.schema)
            text += fields.isEmpty ? "\n" : ": \(fields.map { "`\($0)`" }.joined(separator: ", "))\n"
        }
        let own = description.answers.map(\.status.rawValue).sorted().map(String.init)
        return text + "- answers: \(own.joined(separator: ", "))\n"
    }

    /// Returns the names of the members of a body, those of all alternatives together, and those of the messages within it.
    private static func fields(of schema: JSONValue, depth: Int = 2) -> [String] {
        var names: [String] = []
        for member in schema.members ?? [] {
            switch member.key {
            case "$ref":
                // The schema has each name in camelCase as well.
                let inner = target(of: member.value).map { fields(of: $0, depth: depth) } ?? []
                names += inner.filter { !$0.contains(where: \.isUppercase) }
            case "properties":
                for property in member.value.members ?? [] {
                    names.append(property.key)
                    guard depth > 1, property.value.members?.first?.key == "$ref" else { continue }
                    names += fields(of: property.value, depth: depth - 1).map { "\(property.key).\($0)" }
                }
            case "anyOf", "oneOf":
                names += (member.value.elements ?? []).flatMap { fields(of: $0, depth: depth) }
            default: break
            }
        }
        return names.reduce(into: []) { all, name in if !all.contains(name) { all.append(name) } }
    }

    /// Returns the schema that a reference names.
    private static func target(of reference: JSONValue) -> JSONValue? {
        let name = reference.text?.split(separator: "/").last.map(String.init)
        return V1Schema.all.first { $0.key == name }?.value
    }
}

extension HTTPCredential {
    /// Where a request has the credential, in one line.
    fileprivate var place: String {
        let members = scheme.members ?? []
        func text(_ key: String) -> String? { members.first { $0.key == key }?.value.text }
        let header = text("name") ?? "Authorization: Bearer"
        return "`\(header)`: \(text("description") ?? "")"
    }
}
