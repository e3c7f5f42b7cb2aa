/// The XML attributes that Xcode writes, by the kind of their element, and warnings about others.
///
/// The element `<model>` is not checked, because its attributes have no meaning to Core Data, and Xcode adds some every
/// few versions.
enum KnownAttributes {
  private static let ofProperties = [
    "name", "optional", "transient", "elementID", "versionHashModifier", "syncable", "indexed",
    "spotlightIndexingEnabled", "storedInTruthFile", "storedInExternalRecord", "allowsCloudEncryption",
  ]

  private static let names: [String: [String]] = [
    "entity": [
      "name", "representedClassName", "isAbstract", "parentEntity", "elementID", "versionHashModifier", "syncable",
      "codeGenerationType", "coreSpotlightDisplayNameExpression",
    ],
    "attribute": ofProperties + [
      "attributeType", "defaultValueString", "defaultDateTimeInterval", "minValueString", "maxValueString",
      "minDateTimeInterval", "maxDateTimeInterval", "regularExpressionString", "usesScalarValueType",
      "customClassName", "valueTransformerName", "allowsExternalBinaryDataStorage", "preserveAfterDeletion", "derived",
      "derivationExpression", "composite",
    ],
    "relationship": ofProperties + [
      "toMany", "minCount", "maxCount", "ordered", "deletionRule", "destinationEntity", "inverseName", "inverseEntity",
    ],
    "fetchedProperty": ofProperties,
    "fetchRequest": [
      "name", "entity", "predicateString", "fetchLimit", "fetchBatchSize", "resultType", "includeSubentities",
      "includePropertyValues", "includesPendingChanges", "includePendingChanges", "returnObjectsAsFaults",
      "returnDistinctResults",
    ],
    "fetchIndex": ["name", "partialIndexPredicate"],
    "fetchIndexElement": ["property", "expression", "expressionType", "type", "order"],
    "configuration": ["name", "usedWithCloudKit"],
    "memberEntity": ["name"], "index": ["value"], "constraint": ["value"], "entry": ["key", "value"],
  ]

  /// Adds a warning for each unknown attribute of the element and of those inside, with the name that was meant.
  static func check(_ element: ModelElement) {
    if let names = names[element.kind] {
      for attribute in element.attributes.keys.sorted() where !names.contains(attribute) {
        let hint = meant(by: attribute, among: names).map { "; \($0) may be meant" } ?? ""
        element.warn("\(attribute) is not known in <\(element.kind)>\(hint); it is passed over")
      }
    }
    for child in element.children { check(child) }
  }

  /// The known name to which few changes lead; else the shortest one that contains the unknown name, or the longest one
  /// that is contained in it.
  private static func meant(by unknown: String, among names: [String]) -> String? {
    let unknown = unknown.lowercased()
    let nearest = names.map { ($0, distance(Array(unknown), Array($0.lowercased()))) }.min { $0.1 < $1.1 }
    if let (name, changes) = nearest, changes * 3 <= max(unknown.count, name.count) { return name }
    let longer = names.filter { $0.lowercased().contains(unknown) }.min { $0.count < $1.count }
    return longer ?? names.filter { $0.count > 3 && unknown.contains($0.lowercased()) }.max { $0.count < $1.count }
  }

  /// The number of characters to insert, remove or replace that turns one word into the other.
  private static func distance(_ one: [Character], _ other: [Character]) -> Int {
    var row = Array(0...other.count)
    for (place, character) in one.enumerated() {
      var diagonal = row[0]
      row[0] = place + 1
      for (column, otherCharacter) in other.enumerated() {
        let replaced = diagonal + (character == otherCharacter ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
      }
    }
    return row[other.count]
  }
}
