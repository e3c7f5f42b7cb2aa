#if PostgreSQL
  import CairnSimulation
  import CoreData

  /// Makes random predicates about the objects of an entity.
  struct SearchPredicates {
    var random: SplitMix64
    /// The objects of the store, in the coordinator for which the predicates are.
    let objects: [NSManagedObjectID]

    mutating func predicate(_ entity: NSEntityDescription, depth: Int) -> NSPredicate {
      switch depth > 0 ? Int.random(in: 0..<8, using: &random) : 7 {
      case 0: NSPredicate(value: random.isTrue)
      case 1: NSCompoundPredicate(notPredicateWithSubpredicate: predicate(entity, depth: depth - 1))
      case 2, 3:
        NSCompoundPredicate(
          type: random.isTrue ? .and : .or,
          subpredicates: (0..<2 + Int.random(in: 0..<2, using: &random)).map { _ in
            predicate(entity, depth: depth - 1)
          })
      case 4: members(entity, depth: depth)
      default: comparison(entity)
      }
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
      elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    // MARK: Comparisons

    private static let options: [NSComparisonPredicate.Options] = [
      [], [], [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive], .normalized,
    ]

    private mutating func comparison(_ entity: NSEntityDescription) -> NSPredicate {
      // The path goes over some relationships, and ends with an attribute or a relationship.
      var (keys, place, isToMany): ([String], NSEntityDescription, Bool) = ([], entity, false)
      while random.isTrue(oneIn: 3), keys.count < 3 {
        let name = pick(place.relationshipsByName.keys.sorted())
        guard let relationship = place.relationshipsByName[name], let destination = relationship.destinationEntity
        else { break }
        keys.append(name)
        isToMany = isToMany || relationship.isToMany
        place = destination
      }
      let end = keys.isEmpty || !random.isTrue(oneIn: 3) ? pick(place.propertiesByName.keys.sorted()) : nil
      if let end { keys.append(end) }
      if !keys.isEmpty, random.isTrue(oneIn: 30) { return identity() }
      let property = end.flatMap { place.propertiesByName[$0] }
      let path = NSExpression(forKeyPath: keys.joined(separator: "."))
      if let attribute = property as? NSAttributeDescription {
        return comparison(path, attribute, entity, isToMany: isToMany)
      }
      isToMany = isToMany || (property as? NSRelationshipDescription)?.isToMany == true
      return object(path, isToMany: isToMany)
    }

    private mutating func comparison(
      _ path: NSExpression, _ attribute: NSAttributeDescription, _ entity: NSEntityDescription, isToMany: Bool
    ) -> NSPredicate {
      let isText = attribute.attributeType == .stringAttributeType
      let plain: [NSComparisonPredicate.Operator] = [
        .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .in, .between,
      ]
      let type = pick(isText && random.isTrue ? [.beginsWith, .endsWith, .contains, .like] : plain)
      var modifier: NSComparisonPredicate.Modifier =
        isToMany && !random.isTrue(oneIn: 6) ? pick([.any, .all]) : .direct
      if type == .contains || type == .between { modifier = .direct }
      let constant: NSExpression
      switch type {
      case .in: constant = NSExpression(forConstantValue: list(attribute.attributeType, 0..<5))
      case .between: constant = NSExpression(forConstantValue: list(attribute.attributeType, 2..<3))
      case .like: constant = NSExpression(forConstantValue: pattern())
      default:
        constant = NSExpression(forConstantValue: SearchValues.constant(attribute.attributeType, &random))
        let others = entity.attributesByName.values.filter { $0.attributeType == attribute.attributeType }
        if modifier == .direct, random.isTrue(oneIn: 6) {
          let other = pick((others.isEmpty ? Array(entity.attributesByName.values) : others).map(\.name).sorted())
          return NSComparisonPredicate(
            leftExpression: path, rightExpression: NSExpression(forKeyPath: other), modifier: modifier, type: type,
            options: isText ? pick(Self.options) : [])
        }
      }
      let isMirrored = modifier == .direct && plain.prefix(6).contains(type) && random.isTrue(oneIn: 5)
      return NSComparisonPredicate(
        leftExpression: isMirrored ? constant : path, rightExpression: isMirrored ? path : constant,
        modifier: modifier, type: type, options: isText ? pick(Self.options) : [])
    }

    private mutating func list(_ type: NSAttributeType, _ counts: Range<Int>) -> [Any] {
      (0..<Int.random(in: counts, using: &random)).map { _ in SearchValues.constant(type, &random) ?? NSNull() }
    }

    private mutating func pattern() -> String {
      (0..<Int.random(in: 1..<4, using: &random)).map { _ in
        pick(["*", "?", "\\", "\\*", "%", "_", SearchValues.text(&random)])
      }.joined()
    }

    // MARK: Objects

    private mutating func identity() -> NSPredicate {
      let some = (0..<Int.random(in: 1..<4, using: &random)).map { _ in pick(objects) }
      return switch Int.random(in: 0..<3, using: &random) {
      case 0: NSPredicate(format: "SELF == %@", some[0])
      case 1: NSPredicate(format: "SELF IN %@", some)
      default: NSPredicate(format: "SELF > %@", some[0])
      }
    }

    private mutating func object(_ path: NSExpression, isToMany: Bool) -> NSPredicate {
      let some = (0..<Int.random(in: 0..<4, using: &random)).map { _ in pick(objects) }
      let one: Any? = random.isTrue(oneIn: 3) ? nil : pick(objects)
      let modifier: NSComparisonPredicate.Modifier = isToMany ? pick([.any, .all]) : .direct
      let (type, constant): (NSComparisonPredicate.Operator, Any?) =
        switch Int.random(in: 0..<4, using: &random) {
        case 0: (.in, some)
        case 1: (.notEqualTo, one)
        case 2 where isToMany: (.contains, one)
        default: (.equalTo, one)
        }
      return NSComparisonPredicate(
        leftExpression: path, rightExpression: NSExpression(forConstantValue: constant),
        modifier: type == .contains ? .direct : modifier, type: type, options: [])
    }

    private mutating func members(_ entity: NSEntityDescription, depth: Int) -> NSPredicate {
      let names = entity.relationshipsByName.values.filter(\.isToMany).map(\.name).sorted()
      let name = pick(names)
      guard let destination = entity.relationshipsByName[name]?.destinationEntity, random.isTrue else {
        let sign = pick(["==", "!=", "<", ">", ">="])
        return NSPredicate(format: "%K.@count \(sign) %ld", name, Int.random(in: 0..<3, using: &random))
      }
      let attribute = pick(destination.attributesByName.values.sorted { $0.name < $1.name })
      let inner = comparison(NSExpression(forKeyPath: attribute.name), attribute, destination, isToMany: false)
      guard let inner = inner as? NSComparisonPredicate, inner.leftExpression.expressionType == .keyPath,
        inner.rightExpression.expressionType == .constantValue
      else { return NSPredicate(value: true) }
      let element = NSExpression(
        forFunction: NSExpression(forVariable: "x"), selectorName: "valueForKeyPath:",
        arguments: [inner.leftExpression])
      let predicate = NSComparisonPredicate(
        leftExpression: element, rightExpression: inner.rightExpression, modifier: .direct,
        type: inner.predicateOperatorType, options: inner.options)
      let subquery = NSExpression(
        forSubquery: NSExpression(forKeyPath: name), usingIteratorVariable: "x", predicate: predicate)
      let count = NSExpression(
        forFunction: subquery, selectorName: "valueForKeyPath:", arguments: [NSExpression(forKeyPath: "@count")])
      return NSComparisonPredicate(
        leftExpression: count,
        rightExpression: NSExpression(forConstantValue: NSNumber(value: Int.random(in: 0..<2, using: &random))),
        modifier: .direct, type: pick([.equalTo, .notEqualTo, .greaterThan, .greaterThanOrEqualTo]), options: [])
    }
  }
#endif
