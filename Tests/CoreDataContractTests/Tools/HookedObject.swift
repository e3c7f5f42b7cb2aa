import CoreData

/// A managed object that records which of its hooks are called.
final class HookedObject: NSManagedObject {
  var hooks: [String] = []
  /// Called when the object is about to be saved.
  var onWillSave: ((HookedObject) -> Void)?

  override func awakeFromInsert() {
    super.awakeFromInsert()
    hooks.append("awakeFromInsert, age \(primitiveValue(forKey: "age") ?? "nil")")
  }

  override func awakeFromFetch() {
    super.awakeFromFetch()
    hooks.append("awakeFromFetch")
  }

  override func willSave() {
    super.willSave()
    hooks.append("willSave")
    onWillSave?(self)
  }

  override func didSave() {
    super.didSave()
    hooks.append("didSave")
  }

  override func willTurnIntoFault() {
    super.willTurnIntoFault()
    hooks.append("willTurnIntoFault")
  }

  override func didTurnIntoFault() {
    super.didTurnIntoFault()
    hooks.append("didTurnIntoFault")
  }

  override func prepareForDeletion() {
    super.prepareForDeletion()
    hooks.append("prepareForDeletion")
  }
}
