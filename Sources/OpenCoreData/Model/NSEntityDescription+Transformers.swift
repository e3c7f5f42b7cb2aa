extension NSEntityDescription {
  /// The names of value transformers that stored attributes of the entity need and that are not registered, each with
  /// the attribute that names it.
  var unregisteredTransformers: [String] {
    attributesByName.values.filter { !$0.isTransient }.flatMap(\.elementsAndSelf).compactMap { attribute in
      guard attribute.attributeType == .transformableAttributeType, let transformer = attribute.valueTransformerName,
        !transformer.isEmpty, ValueTransformer(forName: NSValueTransformerName(transformer)) == nil
      else { return nil }
      return "\"\(transformer)\", which \(name ?? "").\(attribute.name) needs"
    }
  }
}

extension NSAttributeDescription {
  /// The attribute and, for a composite one, all attributes inside.
  var elementsAndSelf: [NSAttributeDescription] {
    [self] + ((self as? NSCompositeAttributeDescription)?.elements ?? []).flatMap(\.elementsAndSelf)
  }
}
