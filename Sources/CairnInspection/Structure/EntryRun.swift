import RowFormat

/// The state of a check of consecutive entries of one owner, or of one key.
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
    // Entries without positions are sorted by member, so that no member can occur twice.
    guard let position else { return nil }
    defer { self.position = position }
    if let last = self.position, last >= position { return "its position is not above the previous one, \(last)" }
    return members.insert(member).inserted ? nil : "it is a member twice"
  }

  /// Whether the previous entry had the same key.
  mutating func isAgain(_ constraint: UInt32, _ key: [UInt8]) -> Bool {
    if number == constraint, self.key == key { return true }
    self = EntryRun()
    number = constraint
    self.key = key
    return false
  }
}
