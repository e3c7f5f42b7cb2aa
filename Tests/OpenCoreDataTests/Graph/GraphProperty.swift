/// The properties of an object in the random graphs: two attributes, and each kind of relationship with its inverse.
enum GraphProperty: String, CaseIterable, Sendable {
  case number
  /// Must not be nil.
  case text
  /// To-one; the children are deleted with their parent.
  case parent, children
  /// To-one and ordered, with at most ``lineLengthMax`` objects in a line.
  case head, line
  /// One-to-one.
  case peer, peerOf
  /// Many-to-many, its own inverse.
  case friends
  /// Many-to-many; members are ordered, groups are not.
  case groups, members
  /// A warden cannot be deleted as long as it has wards.
  case warden, wards
  /// Deleting either leaves the other as it is.
  case subject, remarks

  static let lineLengthMax = 3

  static let attributes = [GraphProperty.number, .text]
  static let relationships = allCases.filter { $0.inverse != nil }
  static let toMany = relationships.filter(\.isToMany)

  var inverse: GraphProperty? {
    switch self {
    case .number, .text: nil
    case .parent: .children
    case .children: .parent
    case .head: .line
    case .line: .head
    case .peer: .peerOf
    case .peerOf: .peer
    case .friends: .friends
    case .groups: .members
    case .members: .groups
    case .warden: .wards
    case .wards: .warden
    case .subject: .remarks
    case .remarks: .subject
    }
  }

  var isToMany: Bool { [.children, .line, .friends, .groups, .members, .wards, .remarks].contains(self) }

  var isOrdered: Bool { [.line, .members].contains(self) }

  /// Whether the relationship may refer to deleted objects.
  var mayDangle: Bool { deleteRule == .nothing }

  enum DeleteRule: Sendable {
    case nullify, cascade, deny, nothing
  }

  var deleteRule: DeleteRule {
    switch self {
    case .children: .cascade
    case .wards: .deny
    case .subject, .remarks: .nothing
    default: .nullify
    }
  }
}
