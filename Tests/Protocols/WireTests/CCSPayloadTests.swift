import Basics
import Testing
import Wire

/// The outcome for a payload, in the words of the fixtures' names.
private func outcome(_ text: [UInt8], lenient: Bool = false) -> (word: String, detail: String) {
    do throws(PayloadError) {
        let payload = try AppServerPayload(text.raw)
        if payload.kind == .downstream { _ = try payload.messageID() }
        do throws(Refusal) {
            guard payload.kind == .downstream else {
                _ = try Acknowledgement(payload)
                return ("ack", "")
            }
            _ = try DownstreamMessage(payload, lenientLifetime: lenient)
            return ("accepted", "")
        } catch {
            return words(error)
        }
    } catch {
        return ("stanza-error", error.text)
    }
}

private func words(_ refusal: Refusal) -> (word: String, detail: String) {
    var text = ByteBuffer()
    ErrorCode.append(descriptionOf: refusal, to: [UInt8]().raw, into: &text)
    let code = "\(ErrorCode.code(refusal))".lowercased()
    return (
        code.split(separator: "_").joined(separator: "-"), String(decoding: text.copied(), as: UTF8.self)
    )
}

@Suite struct CCSPayloadTests {
    @Test("a description is escaped for a stanza, and left as it is for an encoder that escapes it")
    func forms() {
        let refusals: [(Refusal, [UInt8], String, String)] = [
            (
                .conflict(field: "data", reason: "a<b"), [],
                #"InvalidJson: INVALID_FIELD : Field "data" cannot be used: a<b"#, #"Field \"data\""#
            ),
            (
                .invalidToken, Array(#"a"<b>"#.utf8), #"Invalid token on 'to' field: a"<b>"#, #"a\""#
            ),
        ]
        for (refusal, target, plain, part) in refusals {
            var text = ByteBuffer()
            var stanza = ByteBuffer()
            ErrorCode.append(descriptionOf: refusal, to: target.raw, as: .plain, into: &text)
            ErrorCode.append(descriptionOf: refusal, to: target.raw, into: &stanza)
            #expect(String(decoding: text.copied(), as: UTF8.self) == plain)
            let escaped = String(decoding: stanza.copied(), as: UTF8.self)
            #expect(escaped.contains(part) && !escaped.contains("<"), "\(escaped)")
        }
    }

    @Test("hostile payloads get the answer in their file names", arguments: HostileJSON.all)
    func hostile(file: HostileJSON) throws {
        let outcome = outcome(try file.content())
        switch file.outcome {
        case "not-json": #expect(outcome.word == "stanza-error")
        case "json": #expect(outcome.word == "stanza-error" || outcome.word == "invalid-json")
        default: #expect(outcome.word == file.outcome, "\(file.name): \(outcome)")
        }
    }

    @Test(
        "descriptions name the field and what is wrong with it",
        arguments: [
            (#""time_to_live":"abc""#, #"Field \"time_to_live\" must be a JSON java.lang.Number: abc"#),
            (#""time_to_live":-1"#, #"INVALID_TTL : Invalid value (-1) for \"time_to_live\""#),
            (#""time_to_live":2419201"#, #"must be between 0 and \"2419200\""#),
            (#""time_to_live":1.5"#, #"Invalid value (1.5) for \"time_to_live\""#),
            (
                #""delay_while_idle":"not-boolean-user-supplied-value""#,
                #"Field \"delay_while_idle\" must be a JSON java.lang.Boolean: not-boolean-user-supplied-value"#
            ),
            (#""dry_run":"true""#, #"Field \"dry_run\" must be a JSON java.lang.Boolean: true"#),
            (
                #""delivery_receipt_requested":1"#,
                #"Field \"delivery_receipt_requested\" must be a JSON java.lang.Boolean: 1"#
            ),
            (
                #""content_available":{}"#,
                #"Field \"content_available\" must be a JSON java.lang.Boolean: {}"#
            ),
            (#""mutable_content":[]"#, #"Field \"mutable_content\" must be"#),
            (#""priority":"10""#, #"Invalid value (10) for \"priority\": must be one of: normal, high"#),
            (#""priority":10"#, #"Field \"priority\" must be a JSON java.lang.String: 10"#),
            (#""collapse_key":true"#, #"Field \"collapse_key\" must be a JSON java.lang.String: true"#),
            (#""restricted_package_name":1"#, #"Field \"restricted_package_name\" must be"#),
            (#""data":"a<b""#, #"Field \"data\" must be a JSON object: a\u003cb"#),
            (#""notification":5"#, #"Field \"notification\" must be a JSON object: 5"#),
            (#""condition":"'a' in topics""#, #"Field \"condition\" cannot be used: it excludes \"to\""#),
            (#""registration_ids":["a"]"#, #"Field \"registration_ids\" cannot be used"#),
            (#""message_type":"x""#, #"Invalid value (x) for \"message_type\": must be one of: ack, nack"#),
            (#""to":null"#, "Missing Required Field: to"),
            (#""data":{"a":"\u0000"}"#, #"Field \"data\" cannot be used: it holds U+0000"#),
        ])
    func descriptions(member: String, expected: String) {
        let outcome = outcome(Array("{\"to\":\"x\",\"message_id\":\"m\",\(member)}".utf8))
        #expect(outcome.word == "invalid-json")
        #expect(outcome.detail.contains(expected), "\(outcome.detail)")
    }

    @Test("the text of a type error equals the published one")
    func publishedText() {
        let outcome = outcome(Array(#"{"to":"x","message_id":"m","time_to_live":"abc"}"#.utf8))
        #expect(
            outcome.detail
                == #"InvalidJson: JSON_TYPE_ERROR : Field \"time_to_live\" must be a JSON java.lang.Number: abc"#
        )
    }

    @Test("a long value in an error is cut between characters")
    func cutValue() {
        let long = String(repeating: "é", count: 5_000)
        let outcome = outcome(Array("{\"to\":\"x\",\"message_id\":\"m\",\"priority\":\"\(long)\"}".utf8))
        #expect(outcome.detail.contains("(" + String(repeating: "é", count: 32) + "…)"))
    }

    @Test("a lifetime in a string is accepted only in lenient mode")
    func lenientLifetime() {
        let text = Array(#"{"to":"x","message_id":"m","time_to_live":"600"}"#.utf8)
        #expect(outcome(text).word == "invalid-json")
        #expect(outcome(text, lenient: true).word == "accepted")
        let bad = Array(#"{"to":"x","message_id":"m","time_to_live":"6x"}"#.utf8)
        #expect(outcome(bad, lenient: true).word == "invalid-json")
    }

    @Test("all fields are read")
    func fields() throws {
        let text = Array(
            #"""
            {"to":"T","message_id":"m","collapse_key":"k","priority":"high","time_to_live":600,"dry_run":true,
            "delivery_receipt_requested":true,"restricted_package_name":"p","content_available":true,
            "mutable_content":true,"delay_while_idle":true,"data":{"a":"b"},"notification":{"title":"t"}}
            """#.utf8)
        let payload = try AppServerPayload(text.raw)
        let message = try DownstreamMessage(payload)
        #expect(message.collapseKey == Array("k".utf8))
        #expect(message.priority == .high)
        #expect(message.lifetimeSeconds == 600)
        #expect(message.isDryRun && message.wantsReceipt && message.delaysWhileIdle)
        #expect(message.isContentAvailable && message.isMutableContent)
        #expect(message.restrictedPackage == Array("p".utf8))
        #expect(message.data != nil && message.notification != nil)
        let bare = Array(#"{"to":"T","message_id":"m"}"#.utf8)
        let defaults = try DownstreamMessage(AppServerPayload(bare.raw))
        #expect(defaults.lifetimeSeconds == 2_419_200 && defaults.priority == nil && !defaults.wantsReceipt)
    }

    @Test("every field is found by its name")
    func fieldNames() throws {
        for field in PayloadField.allCases {
            let text = Array("{\"\(field.name)\":5}".utf8)
            let payload = try AppServerPayload(text.raw)
            let found = PayloadField.allCases.filter { other in payload[other] != nil }
            #expect(found == [field])
        }
    }

    @Test("canary: a fixture with a wrong name would be detected")
    func canary() {
        #expect(outcome(Array(#"{"to":"x","message_id":"m"}"#.utf8)).word != "invalid-json")
    }
}
