import OpenCoreData

/// Tests whether rows are those of some objects, by their references.
struct IdentityTest {
  private let objects: Set<ObjectReference>
  private let holdsForThem: Bool

  /// Nil if a comparison is not about the objects of rows, or not with objects of the store.
  init?(_ key: String, _ type: NSComparisonPredicate.Operator, _ constant: PredicateValue, _ access: RowAccess) {
    guard key == "self" || key == "objectID" else { return nil }
    let constants: [PredicateValue]
    switch type {
    case .equalTo, .notEqualTo: constants = [constant]
    case .in: constants = constant.elements ?? [.null]
    default: return nil
    }
    var objects: Set<ObjectReference> = []
    objects.reserveCapacity(constants.count)
    for constant in constants {
      guard case .object(let object) = constant, let reference = access.reference(ofConstant: object) else {
        return nil
      }
      objects.insert(reference)
    }
    self.objects = objects
    holdsForThem = type != .notEqualTo
  }

  func callAsFunction(_ object: ObjectReference) -> Bool { objects.contains(object) == holdsForThem }
}
