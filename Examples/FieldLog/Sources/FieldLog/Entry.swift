import CoreData

/// What was seen of a species at a site. Its properties are in the extension that `modelgen` has written.
class Entry: NSManagedObject {
  override func awakeFromInsert() {
    super.awakeFromInsert()
    seen = Date()
  }

  /// The measurement of a part; nil if there is none.
  func measurement(of part: String) -> Measure? { measures.first { $0.part == part } }

  /// The measurements in their order.
  private var measures: [Measure] { measurements?.array as? [Measure] ?? [] }

  var text: String {
    let texts = measures.map { "\($0.part ?? "") \(String(format: "%g", $0.millimetres)) mm" }
    return "\(count) \(species ?? "")" + (texts.isEmpty ? "" : ": " + texts.joined(separator: ", "))
  }
}

/// A place where entries are made.
class Site: NSManagedObject {
  /// The entries, those that were seen first before the others.
  var entriesInOrder: [Entry] {
    let order = NSSortDescriptor(key: "seen", ascending: true)
    return entries?.sortedArray(using: [order]) as? [Entry] ?? []
  }
}
