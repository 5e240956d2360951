/// What an app server reads when the store has lost what it should read of a recipient: its code is the one for trying again, since a
/// restored backup may have the recipient.
public enum DamageText {
    public static let value: StaticString =
        "The store of this server is damaged and cannot read this recipient, retry later; its operator finds it with ccsctl health"
}
