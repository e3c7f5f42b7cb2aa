import Foundation

/// What the dictionaries of a fetch hold under one key, or what they are grouped by.
struct DictionaryColumn {
  let name: String
  let expression: NSExpression
  let type: NSAttributeType
}

extension DictionaryColumn {
  /// A column as a request gives it: a key path, a property or an expression.
  init(_ given: Any, of entity: NSEntityDescription) throws(FetchRequestError) {
    switch given {
    case let computed as NSExpressionDescription:
      guard let expression = computed.expression, !computed.name.isEmpty else {
        throw FetchRequestError(.noProperty, entity, keyPath: computed.expression?.name ?? computed.name)
      }
      self.init(name: computed.name, expression: expression, type: computed.expressionResultType)
    case let property as NSPropertyDescription: self.init(keyPath: property.name)
    case let keyPath as String: self.init(keyPath: keyPath)
    default: throw FetchRequestError(.noProperty, entity, keyPath: "\(given)")
    }
  }

  /// The values at the end of a key path, as the rows have them.
  init(keyPath: String) {
    self.init(name: keyPath, expression: NSExpression(forKeyPath: keyPath), type: .undefinedAttributeType)
  }
}
