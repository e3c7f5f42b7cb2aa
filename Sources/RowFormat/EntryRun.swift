/// Entries of one owner, or of one key, as they come one after the other.
struct EntryRun {
  private(set) var owner: ObjectReference?
  private var number: UInt32?
  private var reference: RowReference?
  private var position: Int64?
  private var members: Set<ObjectReference> = []
  private var key: [UInt8]?

  func isOf(_ relationship: UInt32, _ reference: RowReference) -> Bool {
    number == relationship && self.reference == reference
  }

  /// - Parameter owner: Nil if there is no such object.
  mutating func begin(_ relationship: UInt32, _ reference: RowReference, _ owner: ObjectReference?) {
    self = EntryRun()
    number = relationship
    self.reference = reference
    self.owner = owner
  }

  /// What is wrong with the next member, in words; nil if nothing is.
  mutating func take(_ member: ObjectReference, _ position: Int64?) -> String? {
    // Without positions entries are in the order of the members, each once.
    guard let position else { return nil }
    defer { self.position = position }
    if let last = self.position, last >= position { return "the position before it is \(last), too" }
    return members.insert(member).inserted ? nil : "it is a member twice"
  }

  /// Whether the entry before was of the same key.
  mutating func isAgain(_ constraint: UInt32, _ key: [UInt8]) -> Bool {
    if number == constraint, self.key == key { return true }
    self = EntryRun()
    number = constraint
    self.key = key
    return false
  }
}
